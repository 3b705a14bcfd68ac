package source

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
)

// userinfo matches credentials in an address, between :// and @: https://user:token@host/path, and
// the forms that only git and kustomize know.
var userinfo = regexp.MustCompile(`://[^/?#]*@`)

// openParameters lists parameters of a remote base that hold no credentials
// (https://github.com/kubernetes-sigs/kustomize/blob/master/examples/remoteBuild.md).
var openParameters = []string{"ref", "version", "timeout", "submodules"}

// remoteName returns the folder or address of a kustomization for errors and notes: without a user,
// a password, and possible tokens after ?.
func remoteName(address string) string {
	if !strings.Contains(address, "://") {
		return address
	}
	address, _, _ = strings.Cut(address, "#")
	address, query, _ := strings.Cut(userinfo.ReplaceAllString(address, "://"), "?")
	if query == "" {
		return address
	}
	for part := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(part, "="); !slices.Contains(openParameters, name) {
			return address + "?…"
		}
	}
	return address + "?" + query
}

// addCredentials collects the credentials in an address, both as written and decoded.
func addCredentials(values *redact.Values, address string) {
	if !strings.Contains(address, "://") {
		return
	}
	var secret []string
	if in := userinfo.FindString(address); in != "" {
		user, password, both := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(in, "://"), "@"), ":")
		if secret = append(secret, password); !both || user != "git" {
			secret = append(secret, user)
		}
	}
	_, query, _ := strings.Cut(address, "?")
	for _, part := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == '#' }) {
		name, value, is := strings.Cut(part, "=")
		if !is {
			value = part
		}
		if !slices.Contains(openParameters, name) {
			secret = append(secret, value)
		}
	}
	for _, text := range secret {
		values.AddText(text)
		if meant, err := url.PathUnescape(text); err == nil {
			values.AddText(meant)
		}
	}
}
