package dump

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// Findings are what is wrong in a cluster that was dumped, with the commands that
// would mend it.
type Findings struct {
	All []Finding
	// Borrowed are the addresses that a node has of another one's block, sorted.
	// Nothing is broken by that alone.
	Borrowed []Borrowed
}

// Finding is one broken invariant.
type Finding struct {
	model.Violation
	// Repair are command lines for a shell, quoted; none where nobody can say. Caution
	// is what can go wrong with them.
	Repair  []string
	Caution string
}

// Borrowed is an address that a node has of another one's block.
type Borrowed struct {
	Addr        netip.Addr
	Node, Owner string // "": the block is nobody's
	Pod         string
}

// Wrong is what a look at the scenario of this cluster found. With commands false
// no repair is offered: the names are not those of the cluster.
func (c *Cluster) Wrong(v *scenarios.View, commands bool) *Findings {
	f := &Findings{Borrowed: lent(v)}
	leaked := map[string]bool{} // what leaks cannot converge, which is no news
	for _, x := range v.Violations {
		if x.Invariant == "leaked-claim" {
			leaked[strings.Join(x.Objects, " ")] = true
		}
	}
	for _, x := range v.Violations {
		if x.Invariant == "convergence" && leaked[strings.Join(x.Objects, " ")] {
			continue
		}
		x.Message = strings.ReplaceAll(x.Message, " since 0s", "")
		n := Finding{Violation: x}
		if commands {
			n.Repair, n.Caution = c.repair(v, &x)
		}
		f.All = append(f.All, n)
	}
	return f
}

func lent(v *scenarios.View) []Borrowed {
	owner := map[string]string{}
	for _, p := range v.Record.Pools {
		owner[p.Name] = p.Node
	}
	var out []Borrowed
	for _, cl := range v.Record.Claims {
		if cl.Handle != "" && cl.Node != "" && owner[cl.Pool] != cl.Node {
			out = append(out, Borrowed{cl.Addr, cl.Node, owner[cl.Pool], cl.Pod.String()})
		}
	}
	slices.SortFunc(out, func(a, b Borrowed) int { return a.Addr.Compare(b.Addr) })
	return out
}

// shownMax is how many findings of one invariant are told.
const shownMax = 5

// Write tells people: one line a finding and one for each command, then what to be
// careful with.
func (f *Findings) Write(w io.Writer) {
	var cautions []string
	for i := 0; i < len(f.All); {
		n := i
		for n < len(f.All) && f.All[n].Invariant == f.All[i].Invariant {
			n++
		}
		for k, x := range f.All[i:n] {
			if k == shownMax && n-i > shownMax+1 {
				fmt.Fprintf(w, "wrong: %s (%s): %d more like these\n", x.Invariant, x.Severity, n-i-shownMax)
				break
			}
			fmt.Fprintf(w, "wrong: %s (%s): %s\n", x.Invariant, x.Severity, reports.Clean(x.Message))
			for _, c := range x.Repair {
				fmt.Fprintf(w, "       %s\n", c)
			}
			if x.Caution != "" && !slices.Contains(cautions, x.Caution) {
				cautions = append(cautions, x.Caution)
			}
		}
		i = n
	}
	for i, b := range f.Borrowed {
		if i == shownMax && len(f.Borrowed) > shownMax+1 {
			fmt.Fprintf(w, "borrowed: %d more\n", len(f.Borrowed)-shownMax)
			break
		}
		fmt.Fprintf(w, "borrowed: %s by %s from %s\n", b.Addr, reports.Clean(b.Node), reports.Clean(owned(b)))
	}
	for _, c := range cautions {
		fmt.Fprintf(w, "careful: %s\n", c)
	}
	if len(f.All) == 0 {
		fmt.Fprintf(w, "nothing is wrong\n")
	}
}

func owned(b Borrowed) string {
	if b.Owner == "" {
		return "a block that is nobody's"
	}
	return b.Owner
}
