// Package merge may change with a minor version until 1.0.0. It computes what should change. From
// the original, the local and the live form of an object, and the type that states how it is
// split, it makes a Plan. It refuses to read, send or print anything, to know a Kubernetes kind,
// and to import anything but the standard library.
//
// Values are JSON values as ReadJSON gives them: nil, bool, string, json.Number, []any and
// map[string]any. Numbers are never float64, so that 2^53+1 survives. No function here
// modifies its arguments; results share memory with the inputs and must be treated as
// read-only. Where nothing changes, the result is live's own memory: "unchanged" is a
// comparison of pointers. Owners are looked up only where local and live disagree. The type
// that decides how a value is split is data: the engine knows no kind by name.
package merge
