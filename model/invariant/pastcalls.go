package invariant

import (
	"net/netip"
	"slices"

	"ipamsim/model"
)

// calls is what Past remembers of CNI calls, and of daemons that exit. Each event of the history passes through
// it once.
type calls struct {
	heard      int           // events
	claims     []model.Claim // of the last view
	failing    map[callKey]streak
	exits      map[string]exits      // by name of the daemon
	containers map[string]*container // by id, from their first call on
	loose      []*loose
	// Findings so far, for the invariants of these names.
	failed, loops, timedOut, unreleased, overcounts, overreserved []finding
}

// callKey identifies a call across retries: the ADD of a pod's interface, or its DEL.
type callKey struct {
	del   bool
	pod   model.PodRef
	iface string
}

// container is the state of a container's calls.
type container struct {
	had      []netip.Addr  // addresses that were claimed for it during one of its own ADDs
	released []model.Event // DELs that have succeeded, the last of each interface
	reserved []string      // reservations for its pod that there were before its first call
}

// note processes the events since the last view, and the claims of calls under way.
func (c *calls) note(v *View) {
	if v.History == nil {
		return
	}
	if c.failing == nil {
		c.failing, c.containers, c.exits = map[callKey]streak{}, map[string]*container{}, map[string]exits{}
	}
	c.noteUnderWay(v)
	events := v.History.Events
	for ; c.heard < len(events); c.heard++ {
		e := &events[c.heard]
		switch e.Kind {
		case model.AddBegin, model.DelBegin:
			if c.containers[e.Container] == nil {
				c.containers[e.Container] = &container{reserved: reservedFor(v, e.Pod)}
			}
		case model.AddEnd, model.DelEnd:
			c.noteClaimed(v, func(id string) bool { return id == e.Container && e.Kind == model.AddEnd })
			c.noteFailure(v, e)
			c.noteTimeout(v, e)
			c.noteReleased(e)
			c.noteCounts(v, e)
		case model.SandboxRemoved:
			c.noteUnreleased(v, e)
		case model.Exited:
			c.noteExit(v, e)
		}
	}
	c.noteLoose(v)
}

// noteUnderWay records the claims of the ADDs under way if claims have changed: an unchanged record
// is the same slice.
func (c *calls) noteUnderWay(v *View) {
	was, is := c.claims, v.Record.Claims
	c.claims = is
	if len(is) == 0 || len(is) == len(was) && &is[0] == &was[0] {
		return
	}
	for _, b := range v.Truth.Busy {
		if !b.Del {
			c.noteClaimed(v, func(id string) bool { b, ok := v.Truth.Busy[id]; return ok && !b.Del })
			return
		}
	}
}

// noteClaimed records the claims of some containers.
func (c *calls) noteClaimed(v *View, of func(id string) bool) {
	for i := range v.Record.Claims {
		k := &v.Record.Claims[i]
		if !of(k.Container) {
			continue
		}
		if x := c.containers[k.Container]; x != nil && !slices.Contains(x.had, k.Addr) {
			x.had = append(x.had, k.Addr)
		}
	}
}

// reservedFor are the names of the reservations for a pod.
func reservedFor(v *View, p model.PodRef) (out []string) {
	for i := range v.Record.Reservations {
		if r := &v.Record.Reservations[i]; r.Pod == p {
			out = append(out, r.Name)
		}
	}
	return out
}
