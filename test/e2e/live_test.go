package e2e

import (
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// reader is how the tests themselves read live objects: as kubectl get finds them, in
// this process.
type reader struct {
	config     *rest.Config
	kubeconfig clientcmd.ClientConfig
	cached     discovery.CachedDiscoveryInterface
	mapper     meta.ResettableRESTMapper
}

func newReader(s *apiServer) *reader {
	r := &reader{config: s.config, kubeconfig: clientcmd.NewDefaultClientConfig(s.kubeconfig, nil)}
	r.cached = memory.NewMemCacheClient(s.client.Discovery())
	r.mapper = restmapper.NewDeferredDiscoveryRESTMapper(r.cached)
	return r
}

func (r *reader) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(r.config), nil }

func (r *reader) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return r.cached, nil
}

func (r *reader) ToRESTMapper() (meta.RESTMapper, error) {
	return restmapper.NewShortcutExpander(r.mapper, r.cached, nil), nil
}

func (r *reader) ToRawKubeConfigLoader() clientcmd.ClientConfig { return r.kubeconfig }

// named gives the live object TYPE/NAME of a namespace, nil where there is none.
func (r *reader) named(ns, ref string) (map[string]any, error) {
	all, err := r.read(ns, func(b *resource.Builder) *resource.Builder { return b.ResourceTypeOrNameArgs(false, ref) })
	if len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}

// file gives the live objects of a manifest, without those that are not there.
func (r *reader) file(ns, file string) ([]map[string]any, error) {
	return r.read(ns, func(b *resource.Builder) *resource.Builder {
		return b.FilenameParam(false, &resource.FilenameOptions{Filenames: []string{file}}).Latest()
	})
}

// read asks the server anew for its types where something is not known: a story may have
// just defined it.
func (r *reader) read(ns string, what func(*resource.Builder) *resource.Builder) ([]map[string]any, error) {
	infos := func() ([]*resource.Info, error) {
		b := resource.NewBuilder(r).Unstructured().ContinueOnError().NamespaceParam(ns).DefaultNamespace()
		return what(b).Flatten().Do().IgnoreErrors(apierrors.IsNotFound).Infos()
	}
	found, err := infos()
	if err != nil {
		r.mapper.Reset()
		found, err = infos()
	}
	if err != nil {
		return nil, err
	}
	all := make([]map[string]any, 0, len(found))
	for _, info := range found {
		text, err := json.Marshal(info.Object)
		if err != nil {
			return nil, err
		}
		v, err := decodeJSON(text)
		if err != nil {
			return nil, err
		}
		all = append(all, v.(map[string]any))
	}
	return all, nil
}
