// Package files merges YAML files and folders of them into others, two ways
// (source into dest) and three ways (what changed between original and updated,
// into dest), and writes them back all at once or not at all. It does not
// contact a cluster, guess what text means that is not YAML, or decide which side
// wins: the policy does.
//
// In the terms of pkg/merge, updated (the source) is local, and dest is live.
package files
