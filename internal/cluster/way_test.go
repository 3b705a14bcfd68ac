package cluster

import "testing"

// TestWay: what is advised would help.
func TestWay(t *testing.T) {
	for _, tt := range []struct {
		code          int
		message, want string
	}{
		{500, `Internal error occurred: failed calling webhook "a.example.com": could not get REST client: unable to load root certificates: unable to parse bytes as PEM block`,
			": the caBundle in that webhook's configuration is not a certificate: fix it there, or have its injector do so"},
		{500, "Internal error occurred: etcdserver: leader changed", ": try again"},
		{500, `.spec.new: field not declared in schema`, ": its managedFields name a version of the kind that does not have the field: kubectl merge migrate --to=server-side rewrites them; if it does not help, merge without --server-side"},
		{500, `failed to create typed patch object (a/t; example.com/v1, Kind=Thing): .spec.new: field not declared in schema`, ": merge without --server-side"},
		{500, `failed to create typed live object (a/t; example.com/v1, Kind=Thing): .spec.n: expected numeric (int or float), got string`, ": live has a value of a type that the kind no longer has there: merge once without --server-side"},
		{422, "spec.replicas: invalid value", ""},
	} {
		if got := way(tt.code, tt.message); got != tt.want {
			t.Errorf("%d %s: %q, want %q", tt.code, tt.message, got, tt.want)
		}
	}
}
