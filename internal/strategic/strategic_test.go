package strategic_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/strategic"
)

// TestRefused: the library's reason is kept, without the documents that it quotes.
func TestRefused(t *testing.T) {
	for _, tt := range []struct{ reason, local, live, want string }{
		{
			"an entry without its key", `{"spec":{"imagePullSecrets":[{}]}}`, `{"spec":{"imagePullSecrets":[{"name":"a"}]}}`,
			"an entry of a list has no name, by which kubectl tells its entries apart; --strategy=auto can merge it",
		},
		{
			"such an entry that quotes the reason", `{"spec":{"volumes":[{"x":" does not contain declared merge key: secret"}]}}`, `{"spec":{"volumes":[{"name":"a"}]}}`,
			"an entry of a list has no name, by which kubectl tells its entries apart; --strategy=auto can merge it",
		},
		{
			"another reason that quotes it", `{"spec":{"containers":["secret does not contain declared merge key: secret"]}}`, `{"spec":{"containers":[{"name":"a"}]}}`,
			"list element types are not identical; --strategy=auto can merge it",
		},
		{
			"a field that the kind does not have", `{"spec":{"containers":[{"name":"a","x":[1]}]}}`, `{"spec":{"containers":[{"name":"a","x":[2]}]}}`,
			`unable to find api field in struct Container for the json field "x"; --strategy=auto can merge it`,
		},
	} {
		_, err := strategic.Of(corev1.Pod{})([]byte(`{}`), []byte(tt.local), []byte(tt.live))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.reason, err, tt.want)
		}
	}
}
