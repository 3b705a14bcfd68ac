package yamldoc

import "strings"

// text gives the lines around an offset of a source text.
type text string

// lineStart is where the line that at is on starts.
func (s text) lineStart(at int) int {
	return strings.LastIndexByte(string(s[:at]), '\n') + 1
}

// lineEnd is where the line that at is on ends, before its line break.
func (s text) lineEnd(at int) int {
	i := strings.IndexByte(string(s[at:]), '\n')
	if i < 0 {
		return len(s)
	}
	if i > 0 && s[at+i-1] == '\r' {
		i--
	}
	return at + i
}

// lineNext is where the line behind the one that at is on starts.
func (s text) lineNext(at int) int {
	if i := strings.IndexByte(string(s[at:]), '\n'); i >= 0 {
		return at + i + 1
	}
	return len(s)
}

// json reports whether the text is JSON rather than YAML, by its first character.
func (s text) json() bool {
	head := strings.TrimLeft(string(s[:min(len(s), 64)]), " \t\r\n\ufeff")
	return strings.HasPrefix(head, "{") || strings.HasPrefix(head, "[")
}

// trimmed is where the spaces and tabs begin that a range ends with.
func (s text) trimmed(from, to int) int {
	return from + len(strings.TrimRight(string(s[from:to]), " \t"))
}

// blank reports whether there is nothing but white space in a range.
func (s text) blank(from, to int) bool {
	return from >= to || strings.TrimLeft(string(s[from:to]), " \t\r\n\ufeff") == ""
}

// indent is where the line starts that something at an offset is the first thing
// on; -1 if it is not. It looks no further back than white space goes, so that it
// costs nothing in a text of one long line.
func (s text) indent(at int) int {
	if at = s.trimmed(0, at); at == 0 || s[at-1] == '\n' || strings.HasSuffix(string(s[:at]), "\ufeff") {
		return at
	}
	return -1
}

// comment is the comment that stands behind an offset on its line, "" if there is
// something else or nothing.
func (s text) comment(at int) string {
	for at < len(s) && isBlank(s[at]) {
		at++
	}
	if at == len(s) || s[at] != '#' {
		return ""
	}
	return strings.TrimRight(string(s[at:s.lineEnd(at)]), " \t")
}

// head is where the comment lines start that stand directly above an entry, with
// its indentation; the entry's own start if there are none or it does not start
// its line.
func (s text) head(e *entry) int {
	line := s.indent(e.start)
	if line < 0 {
		return e.start
	}
	col, first := e.start-line, e.start
	for line > 0 {
		above := s.lineStart(line - 1)
		content := strings.TrimLeft(string(s[above:line]), " ")
		if above < e.bound || !strings.HasPrefix(content, "#") || line-above-len(content) != col {
			break
		}
		line, first = above, above+col
	}
	return first
}

// emptyAbove reports whether the line above an offset is empty.
func (s text) emptyAbove(at int) bool {
	line := s.lineStart(at)
	return line > 0 && s.blank(s.lineStart(line-1), line)
}

// end is behind all that belongs to an entry, before its last line break: its
// value, the comment behind that, and comment lines below that are indented deeper
// than the entry.
func (s text) end(e *entry) int {
	end := s.lineEnd(e.end())
	col := e.start - s.lineStart(e.start)
	for at := s.lineNext(end); at < len(s); at = s.lineNext(at) {
		stop := s.lineEnd(at)
		content := strings.TrimLeft(string(s[at:stop]), " ")
		if content == "" {
			continue
		}
		if content[0] != '#' || stop-at-len(content) <= col {
			break
		}
		end = stop
	}
	return end
}

// note is the comment on an entry's own line: behind its value, or behind the
// colon where the value stands below.
func (s text) note(e *entry) string {
	v := e.value
	switch {
	case v.block():
		if strings.Contains(string(s[e.mark:v.body]), "\n") {
			return s.comment(s.propsEnd(e))
		}
		return ""
	case v.style == literalStyle || v.style == foldedStyle:
		header := v.body
		for header < len(s) && !ends(s[header]) {
			header++
		}
		return s.comment(header)
	}
	return s.comment(e.end())
}

// propsEnd is behind the colon and the properties that stand on its line.
func (s text) propsEnd(e *entry) int {
	at, end := e.mark, s.lineEnd(e.mark)
	for at < end {
		for at < end && isBlank(s[at]) {
			at++
		}
		if at == end || s[at] != '&' && s[at] != '!' {
			break
		}
		for at < end && !ends(s[at]) {
			at++
		}
	}
	if at < end && s[at] == '#' {
		return s.trimmed(e.mark, at)
	}
	return at
}

// deep is the column at which the lines of a block scalar start, 0 for other
// nodes and where that is not plain to see.
func (s text) deep(n *node) int {
	if n.style != literalStyle && n.style != foldedStyle {
		return 0
	}
	for at := s.lineNext(n.body); at < n.end; at = s.lineNext(at) {
		line := string(s[at:s.lineEnd(at)])
		if content := strings.TrimLeft(line, " "); content != "" {
			return len(line) - len(content)
		}
	}
	return 0
}
