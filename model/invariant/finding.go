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
	message string
	objects []string // in any order, with repetitions
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
			slices.Sort(f.objects)
			out = append(out, model.Violation{
				Invariant: i.Name, Severity: i.Severity, Message: f.message, Objects: slices.Compact(f.objects),
			})
		}
		slices.SortFunc(out, func(a, b model.Violation) int {
			return cmp.Or(slices.Compare(a.Objects, b.Objects), cmp.Compare(a.Message, b.Message))
		})
		return slices.CompactFunc(out, func(a, b model.Violation) bool { return slices.Equal(a.Objects, b.Objects) })
	}
	return i
}

// The names of objects. They are identities: nothing that changes while the same
// thing stays broken (times, revisions) belongs in them.
func podName(p model.PodRef) string      { return "pod " + p.String() }
func nodeName(n string) string           { return "node " + n }
func networkName(key string) string      { return "network " + key }
func poolName(n string) string           { return "pool " + n }
func containerName(id string) string     { return "container " + id }
func actorName(id string) string         { return "actor " + id }
func addressName(h *holding) string      { return "address " + h.addr.String() }
func reservationName(name string) string { return "reservation " + name }

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
