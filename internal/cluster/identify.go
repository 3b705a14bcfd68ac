package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// UID returns the UID of the namespace kube-system. It identifies a cluster whatever its address:
// it is created with the cluster and never changes. "" if it may not be read, or does not exist.
// Any other failure of the request is the error.
func (c *Cluster) UID(ctx context.Context) (string, error) {
	system := Target{Resource: Resource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}, Name: "kube-system"}
	obj, err := c.Get(ctx, system)
	switch {
	case IsForbidden(err), IsNotFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("%s: %w", system, err)
	}
	return merge.At[string](merge.At[map[string]any](obj, "metadata"), "uid"), nil
}

// Fingerprint returns a hash of the server's address and of the certificates that identify it. It
// is the same for all users of the server, and differs for another address of it.
func (c *Cluster) Fingerprint() string { return c.fingerprint }

func fingerprint(config *rest.Config) string {
	tls := rest.CopyConfig(config)
	_ = rest.LoadTLSFiles(tls) // a file that cannot be read ends the first request
	sum := sha256.New()
	for _, part := range [][]byte{[]byte(tls.Host), []byte(tls.APIPath), []byte(tls.ServerName), tls.CAData} {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}
