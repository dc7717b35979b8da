package invariant

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
)

// finding is the part of a violation that the code of an invariant returns; define adds the rest.
type finding struct {
	code    string      // of one of the invariant's kinds
	objects []model.Ref // in any order, with repetitions
	facts   []model.Fact
}

// define completes an invariant with its check, so that name and severity are
// written once and order and identity are the same for all. Of several findings
// about the same objects the first counts.
func define(i Invariant, check func(View) []finding) Invariant {
	i.Check = func(v View) []model.Violation {
		found := check(v)
		if len(found) == 0 {
			return nil
		}
		out := make([]model.Violation, 0, len(found))
		for _, f := range found {
			slices.SortFunc(f.objects, model.Ref.Compare)
			out = append(out, model.Violation{Invariant: i.Name, Severity: i.Severity, Code: f.code, Objects: slices.Compact(f.objects), Facts: f.facts})
		}
		slices.SortStableFunc(out, func(a, b model.Violation) int { return slices.CompareFunc(a.Objects, b.Objects, model.Ref.Compare) })
		return slices.CompactFunc(out, func(a, b model.Violation) bool { return slices.Equal(a.Objects, b.Objects) })
	}
	return i
}

// Say puts a violation of the invariant into words.
func (i Invariant) Say(v *model.Violation) string { return v.Say(i.Sentence(v.Code)) }

// Sentence is the text of a kind of break, "" if the invariant has no such code.
func (i Invariant) Sentence(code string) string {
	for _, k := range i.Kinds {
		if k.Code == code {
			return k.Text
		}
	}
	return ""
}

func nodeName(n string) model.Ref           { return model.Ref{Kind: model.RefNode, Name: n} }
func networkName(key string) model.Ref      { return model.Ref{Kind: model.RefNetwork, Name: key} }
func poolName(n string) model.Ref           { return model.Ref{Kind: model.RefPool, Name: n} }
func rangeName(p netip.Prefix) model.Ref    { return model.Ref{Kind: model.RefRange, Name: p.String()} }
func containerName(id string) model.Ref     { return model.Ref{Kind: model.RefContainer, Name: id} }
func actorName(id string) model.Ref         { return model.Ref{Kind: model.RefActor, Name: id} }
func handleName(id string) model.Ref        { return model.Ref{Kind: model.RefHandle, Name: id} }
func reservationName(name string) model.Ref { return model.Ref{Kind: model.RefReservation, Name: name} }
func addressName(h *holding) model.Ref      { return model.AddressOf(h.addr) }

// firstLine keeps a panic with its stack, or upstream's longer errors, to one
// line.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
