package invariant

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
)

// finding is what one invariant's code knows about a violation; define adds the
// rest.
type finding struct {
	code    string // one of the invariant's codes, "" if it has none
	message string
	objects []model.Ref // in any order, with repetitions
}

// define completes an invariant with its check, so that name and severity are
// written once and order and identity are the same for all.
func define(i Invariant, check func(View) []finding) Invariant {
	i.Check = func(v View) []model.Violation {
		found := check(v)
		if len(found) == 0 {
			return nil
		}
		out := make([]model.Violation, 0, len(found))
		for _, f := range found {
			slices.SortFunc(f.objects, model.Ref.Compare)
			out = append(out, model.Violation{
				Invariant: i.Name, Severity: i.Severity, Code: f.code, Message: f.message, Objects: slices.Compact(f.objects),
			})
		}
		slices.SortFunc(out, func(a, b model.Violation) int {
			return cmp.Or(slices.CompareFunc(a.Objects, b.Objects, model.Ref.Compare), cmp.Compare(a.Message, b.Message))
		})
		return slices.CompactFunc(out, func(a, b model.Violation) bool { return slices.Equal(a.Objects, b.Objects) })
	}
	return i
}

func nodeName(n string) model.Ref           { return model.Ref{Kind: model.RefNode, Name: n} }
func networkName(key string) model.Ref      { return model.Ref{Kind: model.RefNetwork, Name: key} }
func poolName(n string) model.Ref           { return model.Ref{Kind: model.RefPool, Name: n} }
func containerName(id string) model.Ref     { return model.Ref{Kind: model.RefContainer, Name: id} }
func actorName(id string) model.Ref         { return model.Ref{Kind: model.RefActor, Name: id} }
func handleName(id string) model.Ref        { return model.Ref{Kind: model.RefHandle, Name: id} }
func reservationName(name string) model.Ref { return model.Ref{Kind: model.RefReservation, Name: name} }
func addressName(h *holding) model.Ref      { return model.AddressOf(h.addr) }

// clock prints virtual time as people read it: the nanosecond that separates two
// messages is noise.
func clock(d time.Duration) string { return d.Round(time.Millisecond).String() }

// short cuts a container id as container runtimes do.
func short(id string) string {
	if len(id) > 12 {
		return id[:12]
	}
	return id
}

// firstLine keeps a panic with its stack, or upstream's longer errors, to one
// line.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
