package model

import "strings"

// Say puts a violation into words: the sentence, in which {since} is the value of the
// fact of that name, or the object of that kind ({node}); several are joined with
// commas. What stands in brackets is left out if there is no such fact or object in it:
// "{pod} is gone[ since {since}]". A name that is nothing, outside brackets, stays as it
// is.
//
// The sentences of the invariants are theirs, see invariant.Kind.
func (v *Violation) Say(sentence string) string {
	var b strings.Builder
	b.Grow(2 * len(sentence))
	for sentence != "" {
		open := strings.IndexByte(sentence, '[')
		if open < 0 {
			open = len(sentence)
		}
		v.fill(&b, sentence[:open])
		optional, rest, _ := strings.Cut(sentence[open:], "]")
		if optional != "" {
			var in strings.Builder
			if v.fill(&in, optional[1:]) {
				b.WriteString(in.String())
			}
		}
		sentence = rest
	}
	return b.String()
}

// fill writes a part of a sentence; all is false if a name in it is nothing.
func (v *Violation) fill(b *strings.Builder, part string) (all bool) {
	all = true
	for {
		text, rest, found := strings.Cut(part, "{")
		b.WriteString(text)
		if !found {
			return all
		}
		name, rest, _ := strings.Cut(rest, "}")
		if !v.value(b, name) {
			all = false
			b.WriteString("{" + name + "}")
		}
		part = rest
	}
}

// value writes the value of a name in a sentence.
func (v *Violation) value(b *strings.Builder, name string) (ok bool) {
	write := func(text string) {
		if ok {
			b.WriteString(", ")
		}
		b.WriteString(text)
		ok = true
	}
	for _, f := range v.Facts {
		if f.Name == name {
			write(f.String())
		}
	}
	if ok {
		return true
	}
	for _, o := range v.Objects {
		if string(o.Kind) == name {
			write(o.shown())
		}
	}
	return ok
}
