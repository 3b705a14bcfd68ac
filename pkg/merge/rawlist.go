package merge

import "strings"

// RawList is the JSON text of a list of objects, split into entries without being decoded.
type RawList struct {
	Metadata map[string]any // nil where there is none
	Items    []RawItem
}

// RawItem is an entry of the list: its text, which is part of the list's, and what names
// the object, "" where it has no such field.
type RawItem struct {
	Text            []byte
	Name, Namespace string
}

// SplitList splits the text of a list. It returns false for text that is not a JSON object,
// has an entry that is not one, or is cut off. In the entries, only the names are read: an
// error elsewhere is found when the entry is read.
func SplitList(data []byte) (RawList, bool) {
	var l RawList
	p := jsonParser{scanner: scanner{text: string(data)}}
	ok := p.members(func(key string) (more, ok bool) {
		switch {
		case key == "metadata":
			v, ok := p.parseValue(0)
			l.Metadata, _ = v.(map[string]any)
			return true, ok
		case key == "items" && p.next() == '[':
			return true, p.entries(func() bool {
				from := p.at
				if !p.skip() {
					return false
				}
				item, ok := rawItem(p.text[from:p.at])
				item.Text = data[from:p.at]
				l.Items = append(l.Items, item)
				return ok
			})
		}
		return true, p.skip()
	})
	p.blank()
	return l, ok && p.at == len(p.text)
}

// rawItem reads metadata.name and metadata.namespace of an object, and no more than needed.
func rawItem(text string) (item RawItem, ok bool) {
	p := jsonParser{scanner: scanner{text: text}}
	ok = p.members(func(key string) (more, ok bool) {
		if key != "metadata" || p.next() != '{' {
			return true, p.skip()
		}
		return false, p.members(func(key string) (more, ok bool) {
			switch {
			case key == "name" && p.next() == '"':
				item.Name, ok = p.str()
			case key == "namespace" && p.next() == '"':
				item.Namespace, ok = p.str()
			default:
				ok = p.skip()
			}
			return item.Name == "" || item.Namespace == "", ok
		})
	})
	item.Name, item.Namespace = strings.Clone(item.Name), strings.Clone(item.Namespace) // without the text of the whole list
	return item, ok
}

// members calls each for every member of an object, to read or skip its value, until there
// are no more or each wants no more.
func (p *jsonParser) members(each func(key string) (more, ok bool)) bool {
	if !p.eat('{') {
		return false
	}
	if p.eat('}') {
		return true
	}
	for {
		if p.blank(); p.next() != '"' {
			return false
		}
		key, ok := p.str()
		if !ok || !p.eat(':') {
			return false
		}
		p.blank()
		if more, ok := each(key); !ok || !more {
			return ok
		}
		if !p.eat(',') {
			return p.eat('}')
		}
	}
}

// entries calls each for every entry of a list, to read or skip it, until it returns false.
func (p *jsonParser) entries(each func() bool) bool {
	if !p.eat('[') {
		return false
	}
	if p.eat(']') {
		return true
	}
	for {
		if p.blank(); !each() {
			return false
		}
		if !p.eat(',') {
			return p.eat(']')
		}
	}
}

// skip steps over a value. In an object or a list, it looks only at strings and brackets.
func (p *jsonParser) skip() bool {
	for depth := 0; p.at < len(p.text); {
		switch c := p.text[p.at]; c {
		case '"':
			if !p.skipString() {
				return false
			}
		case '{', '[':
			depth++
			p.at++
		case '}', ']':
			depth--
			p.at++
		default:
			if depth == 0 {
				_, ok := p.parseValue(0)
				return ok
			}
			p.at++
		}
		if depth <= 0 {
			return depth == 0
		}
	}
	return false
}

func (p *jsonParser) skipString() bool {
	for p.at++; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '\\':
			p.at++
		case '"':
			p.at++
			return true
		}
	}
	return false
}
