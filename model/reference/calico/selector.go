package calico

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// selector is a predicate on labels.
type selector func(labels map[string]string) bool

// parseSelector reads Calico's selector language: all(), has(LABEL), LABEL == 'V',
// LABEL != 'V', LABEL in {…}, LABEL not in {…}, !, &&, || and parentheses. The
// empty selector and all() take everything, and are nil. What else there is returns
// ErrNotModelled.
//
// Source: libcalico-go/lib/selector/parser.
func parseSelector(text string) (selector, error) {
	p := &selectorParser{words: selectorWords(text)}
	if len(p.words) == 0 || slices.Equal(p.words, []string{"all", "(", ")"}) {
		return nil, nil
	}
	s, err := p.or()
	if err == nil && len(p.words) > 0 {
		err = p.refuse()
	}
	if err != nil {
		return nil, fmt.Errorf("selector %q: %w", text, err)
	}
	return s, nil
}

func everything(map[string]string) bool { return true }

// selectorWords cuts a selector into words; a literal keeps its first quote.
func selectorWords(text string) []string {
	var out []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		n := 1
		switch c := text[0]; {
		case c == '\'' || c == '"':
			if n = strings.IndexByte(text[1:], c); n < 0 {
				return append(out, text[:1], text[1:]) // never closed: a word too many
			}
			out, text = append(out, text[:n+1]), text[n+2:]
			continue
		case slices.Contains([]string{"==", "!=", "&&", "||"}, text[:min(2, len(text))]):
			n = 2
		case !strings.ContainsRune("(){},!", rune(c)):
			if n = strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("(){},!=&|'\"", r) }); n < 0 {
				n = len(text)
			}
			n = max(n, 1)
		}
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}

type selectorParser struct{ words []string }

func (p *selectorParser) next() string {
	if len(p.words) == 0 {
		return ""
	}
	w := p.words[0]
	p.words = p.words[1:]
	return w
}

func (p *selectorParser) take(words ...string) bool {
	if len(p.words) < len(words) || !slices.Equal(p.words[:len(words)], words) {
		return false
	}
	p.words = p.words[len(words):]
	return true
}

func (p *selectorParser) refuse() error {
	return fmt.Errorf("%w: from %q on", ErrNotModelled, strings.Join(p.words, " "))
}

func (p *selectorParser) or() (selector, error) {
	left, err := p.and()
	for err == nil && p.take("||") {
		a := left
		var b selector
		b, err = p.and()
		left = func(l map[string]string) bool { return a(l) || b(l) }
	}
	return left, err
}

func (p *selectorParser) and() (selector, error) {
	left, err := p.not()
	for err == nil && p.take("&&") {
		a := left
		var b selector
		b, err = p.not()
		left = func(l map[string]string) bool { return a(l) && b(l) }
	}
	return left, err
}

func (p *selectorParser) not() (selector, error) {
	if p.take("!") {
		s, err := p.not()
		return func(l map[string]string) bool { return !s(l) }, err
	}
	if p.take("(") {
		s, err := p.or()
		if err == nil && !p.take(")") {
			err = p.refuse()
		}
		return s, err
	}
	if p.take("all", "(", ")") {
		return everything, nil
	}
	if p.take("has", "(") {
		label := p.next()
		if !isLabel(label) || !p.take(")") {
			return nil, p.refuse()
		}
		return func(l map[string]string) bool { _, ok := l[label]; return ok }, nil
	}
	return p.comparison()
}

func isLabel(word string) bool { return word != "" && !strings.ContainsAny(word, "(){},!=&|'\"") }

// comparison is of a label with a value or a set of values. A label that is
// missing is unequal to every value.
func (p *selectorParser) comparison() (selector, error) {
	label := p.next()
	if !isLabel(label) {
		return nil, p.refuse()
	}
	var values []string
	wanted := true
	switch {
	case p.take("!="):
		wanted = false
		values = []string{p.next()}
	case p.take("=="):
		values = []string{p.next()}
	case p.take("not", "in", "{"):
		wanted = false
		values = p.set()
	case p.take("in", "{"):
		values = p.set()
	default:
		return nil, p.refuse()
	}
	for i, v := range values {
		if v == "" || v[0] != '\'' && v[0] != '"' {
			return nil, p.refuse()
		}
		values[i] = v[1:]
	}
	return func(l map[string]string) bool {
		v, ok := l[label]
		return (ok && slices.Contains(values, v)) == wanted
	}, nil
}

func (p *selectorParser) set() (out []string) {
	for !p.take("}") {
		if len(p.words) == 0 {
			return []string{""}
		}
		if out = append(out, p.next()); !p.take(",") && !slices.Equal(p.words[:min(1, len(p.words))], []string{"}"}) {
			return []string{""}
		}
	}
	return out
}
