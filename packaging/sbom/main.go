// Command sbom writes the list of modules that a Go binary was built from, as SPDX
// 2.3, from the record that the binary itself carries. It refuses to guess: licences
// are not in the record, and so not in the list.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

func main() {
	version := flag.String("version", "", "version of the main module")
	date := flag.String("date", "", "when it was made, in RFC 3339")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: sbom -version VERSION -date DATE BINARY DOCUMENT")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Arg(1), *version, *date); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(binary, document, version, date string) error {
	when, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return fmt.Errorf("-date: %w", err)
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	text, err := json.MarshalIndent(list(info, subject{version: version, sum: hex.EncodeToString(sum[:]), when: when}), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(document, append(text, '\n'), 0o644)
}

// subject is what the binary does not record.
type subject struct {
	version, sum string
	when         time.Time
}

type spdx struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []pkg          `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type pkg struct {
	ID        string     `json:"SPDXID"`
	Name      string     `json:"name"`
	Version   string     `json:"versionInfo"`
	Location  string     `json:"downloadLocation"`
	Analyzed  bool       `json:"filesAnalyzed"`
	Concluded string     `json:"licenseConcluded"`
	Declared  string     `json:"licenseDeclared"`
	Copyright string     `json:"copyrightText"`
	Checksums []checksum `json:"checksums,omitempty"`
	Comment   string     `json:"comment,omitempty"` // the sum of go.sum
	Refs      []ref      `json:"externalRefs"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type ref struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// list is the document: the main module, which depends on the standard library and
// every module that is linked in.
func list(info *debug.BuildInfo, s subject) spdx {
	main := module(0, info.Main.Path, s.version, "")
	main.Checksums = []checksum{{"SHA256", s.sum}}
	doc := spdx{
		Version:   "SPDX-2.3",
		License:   "CC0-1.0",
		ID:        "SPDXRef-DOCUMENT",
		Name:      strings.TrimSpace(fmt.Sprintf("%s %s %s/%s", info.Path, s.version, setting(info, "GOOS"), setting(info, "GOARCH"))),
		Namespace: "https://" + info.Main.Path + "/sbom/" + s.sum,
		Creation: creation{
			Created:  s.when.UTC().Format(time.RFC3339),
			Creators: []string{"Tool: " + info.Main.Path + "/packaging/sbom"},
		},
		Packages:      []pkg{main, module(1, "stdlib", strings.TrimPrefix(info.GoVersion, "go"), "")},
		Relationships: []relationship{{"SPDXRef-DOCUMENT", "DESCRIBES", main.ID}},
	}
	for i, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		doc.Packages = append(doc.Packages, module(i+2, m.Path, m.Version, m.Sum))
	}
	for _, p := range doc.Packages[1:] {
		doc.Relationships = append(doc.Relationships, relationship{main.ID, "DEPENDS_ON", p.ID})
	}
	return doc
}

func module(n int, path, version, sum string) pkg {
	p := pkg{
		ID: fmt.Sprintf("SPDXRef-Module-%d", n), Name: path, Version: version,
		Location: "NOASSERTION", Concluded: "NOASSERTION", Declared: "NOASSERTION", Copyright: "NOASSERTION",
		Refs: []ref{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(version, "+", "%2B")}},
	}
	if sum != "" {
		p.Comment = "go.sum " + sum
	}
	return p
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
