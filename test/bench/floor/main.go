// Command floor is the benchmark's lower bound: a bare loop of client-go's dynamic
// client over prepared requests, as many at once as the program sends. It
// reads no manifest, merges nothing and checks nothing.
//
//	floor prepare BASE CHANGED SET   write the requests beside the files
//	floor create|list|get|patch|try FILE
//
// The requests of FILE are sent, and each object is printed with what became of it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // as every plugin has
	"k8s.io/client-go/tools/clientcmd"
)

// request is one request, or for a list its first.
type request struct {
	Resource  schema.GroupVersionResource `json:"resource"`
	Namespace string                      `json:"namespace"`
	Names     []string                    `json:"names"` // one, or for a list all that it is read for
	Body      json.RawMessage             `json:"body,omitempty"`
}

const (
	manager = "kubectl-client-side-apply"
	atOnce  = 8   // the default of --concurrency
	page    = 500 // objects of a list
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 4 && args[0] == "prepare" {
		return prepare(args[1], args[2], args[3])
	}
	if len(args) != 2 {
		return errors.New("usage: floor prepare BASE CHANGED SET | create|list|get|patch|try FILE")
	}
	verb, known := verbs[args[0]]
	if !known {
		return fmt.Errorf("there is no %s", args[0])
	}
	all, err := load(args[1] + "." + verb.requests)
	if err != nil {
		return err
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return err
	}
	config.QPS = -1 // the server says when it is too much
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	return loop(all, func(r request) ([]string, error) {
		return verb.send(ctx, client.Resource(r.Resource).Namespace(r.Namespace), r)
	}, verb.outcome)
}

// verbs are what can be sent, and the files that the requests are in.
var verbs = map[string]struct {
	requests string
	outcome  string
	send     func(context.Context, dynamic.ResourceInterface, request) ([]string, error)
}{
	"create": {"create", "created", create},
	"list":   {"list", "unchanged", list},
	"get":    {"get", "unchanged", get},
	"patch":  {"patch", "configured", patch(nil)},
	"try":    {"patch", "(server dry run)", patch([]string{metav1.DryRunAll})},
}

func load(file string) ([]request, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []request
	for d := json.NewDecoder(bufio.NewReader(f)); d.More(); {
		var r request
		if err := d.Decode(&r); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// loop sends all requests, some at once, and prints what each returns.
func loop(all []request, send func(request) ([]string, error), outcome string) error {
	var (
		next    = make(chan request)
		workers sync.WaitGroup
		mu      sync.Mutex
		errs    []error
		out     = bufio.NewWriter(os.Stdout)
	)
	for range min(atOnce, len(all)) {
		workers.Go(func() {
			for r := range next {
				names, err := send(r)
				mu.Lock()
				for _, name := range names {
					fmt.Fprintf(out, "%s/%s %s\n", r.Resource.Resource, name, outcome)
				}
				if err != nil {
					errs = append(errs, err)
				}
				mu.Unlock()
			}
		})
	}
	for _, r := range all {
		next <- r
	}
	close(next)
	workers.Wait()
	return errors.Join(append(errs, out.Flush())...)
}

func create(ctx context.Context, c dynamic.ResourceInterface, r request) ([]string, error) {
	var obj unstructured.Unstructured
	if err := obj.UnmarshalJSON(r.Body); err != nil {
		return nil, err
	}
	_, err := c.Create(ctx, &obj, metav1.CreateOptions{FieldManager: manager})
	return r.Names, err
}

func get(ctx context.Context, c dynamic.ResourceInterface, r request) ([]string, error) {
	_, err := c.Get(ctx, r.Names[0], metav1.GetOptions{})
	return r.Names, err
}

func patch(dryRun []string) func(context.Context, dynamic.ResourceInterface, request) ([]string, error) {
	return func(ctx context.Context, c dynamic.ResourceInterface, r request) ([]string, error) {
		_, err := c.Patch(ctx, r.Names[0], types.MergePatchType, r.Body, metav1.PatchOptions{FieldManager: manager, DryRun: dryRun})
		return r.Names, err
	}
}

// list reads page by page and returns what it has found of the names.
func list(ctx context.Context, c dynamic.ResourceInterface, r request) ([]string, error) {
	wanted := map[string]bool{}
	for _, name := range r.Names {
		wanted[name] = true
	}
	var found []string
	for next := ""; ; {
		l, err := c.List(ctx, metav1.ListOptions{Limit: page, Continue: next})
		if err != nil {
			return nil, err
		}
		for _, o := range l.Items {
			if wanted[o.GetName()] {
				found = append(found, o.GetName())
			}
		}
		if next = l.GetContinue(); next == "" {
			return found, nil
		}
	}
}
