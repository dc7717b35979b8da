package unread

import (
	"fmt"

	"ipamsim/reports/layout"
	"ipamsim/scenarios/dump/decode"
)

// shownMax is how many documents that could not be read are listed.
const shownMax = 20

// Unknown are the sentences about what could not be known for it. anonymous: without names.
func (l *Ledger) Unknown(anonymous bool) (out []string) {
	if anonymous {
		if n := len(l.lists) + len(l.Damages); n > 0 {
			out = append(out, layout.Count(n, "list or document", "lists or documents")+" could not be read")
		}
	} else {
		out = append(out, l.lists...)
		for i, d := range l.Damages {
			if i == shownMax {
				out = append(out, layout.Plural(len(l.Damages)-i, "more document")+" could not be read")
				break
			}
			out = append(out, "not read: "+d.Err.Error())
		}
	}
	for _, a := range l.Messages {
		out = append(out, said(a, anonymous))
	}
	return out
}

// said is what a command printed in place of objects, in a sentence.
func said(a decode.Absent, anonymous bool) string {
	s := a.Resource
	if a.Namespace != "" && !anonymous {
		s += " in namespace " + a.Namespace
	}
	s += ": " + reasons[a.Why]
	if !anonymous {
		s += fmt.Sprintf(" (%s)", a.From)
	}
	return s
}

var reasons = map[decode.Reason]string{
	decode.Failed:     "the command that lists them failed",
	decode.Forbidden:  "the user may not list them",
	decode.NoSuchType: "the API server does not serve this resource",
	decode.NoneFound:  "the command found none and does not show the namespace",
}

// Left are the sentences about what was left out. anonymous: without names.
func (l *Ledger) Left(anonymous bool) (out []string) {
	for _, b := range l.Bundles {
		name := b.Name
		if anonymous {
			name = "a folder or archive"
		}
		s := fmt.Sprintf("%s: %s read, %d ignored (logs, tables and other files)", name, layout.Plural(b.Read, "file"), b.Ignored)
		if b.Links > 0 {
			s += ", " + layout.Plural(b.Links, "link") + " not followed"
		}
		out = append(out, s)
	}
	if l.Skipped > 0 {
		out = append(out, layout.Plural(l.Skipped, "line")+" around the objects: prompts, messages, prose")
	}
	return out
}

// Nothing renders that nothing could be read.
func (b *Bundle) Nothing() string {
	s := "has no file to read: " + layout.Count(b.Ignored, "file is of another kind", "files are of other kinds")
	if b.Links > 0 {
		s += ", " + layout.Count(b.Links, "link is not followed", "links are not followed")
	}
	return s + "; want the output of kubectl get -o yaml, in any folder"
}

// Files names what was read, for a mistake that is no one file's.
func Files(sources []string) string {
	if len(sources) == 0 {
		return "the dump"
	}
	return layout.Some(sources)
}
