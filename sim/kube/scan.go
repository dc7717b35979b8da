package kube

import "strconv"

// text returns the string at a path of keys in a JSON object, or "". It reads only up to the
// value and decodes nothing before it: a trace needs the name and the revision of every
// object, and a pool of a thousand allocations takes a millisecond to decode.
func text(doc []byte, path ...string) string {
	i := space(doc, 0)
	for _, want := range path {
		if i = member(doc, i, want); i < 0 {
			return ""
		}
	}
	if i >= len(doc) || doc[i] != '"' {
		return ""
	}
	s, err := strconv.Unquote(string(doc[i:skip(doc, i)]))
	if err != nil {
		return ""
	}
	return s
}

// member returns the start of the value of a key in the object at i, or -1.
func member(doc []byte, i int, want string) int {
	if i >= len(doc) || doc[i] != '{' {
		return -1
	}
	for i = space(doc, i+1); i < len(doc) && doc[i] == '"'; {
		end := skip(doc, i)
		key := string(doc[i:end])
		i = space(doc, end)
		if i >= len(doc) || doc[i] != ':' {
			return -1
		}
		i = space(doc, i+1)
		if key == `"`+want+`"` {
			return i
		}
		if i = space(doc, skip(doc, i)); i < len(doc) && doc[i] == ',' {
			i = space(doc, i+1)
		}
	}
	return -1
}

// skip returns the end of the value at i.
func skip(doc []byte, i int) int {
	depth := 0
	for ; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			for i++; i < len(doc) && doc[i] != '"'; i++ {
				if doc[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return min(i+1, len(doc))
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i // the end of the container of a bare number
			} else if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

func space(doc []byte, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\n' || doc[i] == '\r' || doc[i] == '\t') {
		i++
	}
	return i
}
