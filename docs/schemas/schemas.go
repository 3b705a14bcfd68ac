// Package schemas holds the published JSON schemas, which the program prints. It has no copy of them.
package schemas

import "embed"

// Files are the schemas, as NAME.v1.json.
//
//go:embed *.json
var Files embed.FS
