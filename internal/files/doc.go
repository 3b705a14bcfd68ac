// Package files merges YAML files and folders of them into others, two ways
// (source into dest) and three ways (what changed between original and updated,
// into dest), and writes them back all at once or not at all. It refuses to speak
// to a cluster, to guess what a text means that is not YAML, and to decide who
// wins: that is the policy's.
//
// In the words of the engine below, updated (the source) is local, and dest is
// live.
package files
