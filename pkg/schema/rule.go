package schema

import (
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// readRule reads a rule for what the server fills in, as facts.yaml explains it:
// PATH VALUE [if CONDITION…].
func readRule(text string) merge.Default {
	words := strings.Fields(text)
	d := merge.Default{Path: segments(words[0])}
	readValue(&d, words[1])
	for _, w := range words[2:] {
		switch w {
		case "if":
		case "admission":
			d.Admission = true
		default:
			d.If = append(d.If, readCondition(w))
		}
	}
	return d
}

func readValue(d *merge.Default, text string) {
	if d.Remove, d.Stays, d.Moot = text == "-", text == "~", text == "x"; d.Remove || d.Stays || d.Moot {
		return
	}
	text, d.Always = strings.CutPrefix(text, "=")
	rest, more := strings.CutPrefix(text, "+")
	rest, d.Lower = strings.CutPrefix(rest, "lower")
	from, isPath := strings.CutPrefix(rest, "@")
	if !isPath {
		d.Value, d.Append = readDefault(rest), more
		return
	}
	d.Each = more
	from, suffix, ok := strings.Cut(from, "+")
	if d.From = segments(from); ok {
		d.Value = suffix
	}
}

func readCondition(text string) merge.Condition {
	if path, ok := strings.CutPrefix(text, "!"); ok {
		return merge.Condition{Kind: merge.IfUnset, Path: segments(path)}
	}
	for prefix, kind := range map[string]merge.ConditionKind{"latest:": merge.IfLatest, "alone:": merge.IfAlone, "none:": merge.IfNone} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			path, more, _ := strings.Cut(rest, ":")
			return merge.Condition{Kind: kind, Path: segments(path), Text: more}
		}
	}
	if path, value, ok := strings.Cut(text, "!="); ok {
		return merge.Condition{Kind: merge.IfNot, Path: segments(path), Text: value}
	}
	if path, value, ok := strings.Cut(text, "="); ok {
		return merge.Condition{Kind: merge.IfIs, Path: segments(path), Text: value}
	}
	return merge.Condition{Kind: merge.IfSet, Path: segments(text)}
}

// readFixed reads what can no longer be changed: PATH [grows] [shrinks] [except PATH…]
// [was CONDITION…] [if CONDITION…].
func readFixed(text string) merge.Fixed {
	words := strings.Fields(text)
	f := merge.Fixed{Path: segments(words[0])}
	mode := ""
	for _, w := range words[1:] {
		switch {
		case w == "grows":
			f.Grows = true
		case w == "shrinks":
			f.Shrinks = true
		case w == "except", w == "was", w == "if":
			mode = w
		case mode == "except":
			f.Except = append(f.Except, segments(w))
		case mode == "was":
			f.Was = append(f.Was, readCondition(w))
		default:
			f.If = append(f.If, readCondition(w))
		}
	}
	return f
}

// segments splits a path at "/"; "~1" stands for one inside a name (RFC 6901).
func segments(path string) []string {
	names := strings.Split(path, "/")
	for i, n := range names {
		names[i] = strings.ReplaceAll(n, "~1", "/")
	}
	return names
}
