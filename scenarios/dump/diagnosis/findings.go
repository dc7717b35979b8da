// Package diagnosis says what is wrong in a cluster that was dumped, what would fix it,
// simulated before it is said, and what cannot be judged.
package diagnosis

import (
	"cmp"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/iproute"
	"ipamsim/scenarios/remedy"
)

// Findings are what is wrong in a cluster that was dumped, after Prove with what would
// mend it.
type Findings struct {
	All []Finding // the worst first, then by invariant
	// Borrowed are the addresses that a node has of another one's block, sorted.
	// Nothing is broken by that alone.
	Borrowed []Borrowed
	// Shortages are why nodes without a block borrow, by address family; empty before Prove.
	Shortages []Shortage
	// Results are what became of remedies, by Finding.Problem; empty before Prove.
	Results []remedy.Result
	// Together is what comes of all remedies that passed, one after another; nil: not
	// known.
	Together *remedy.Outcome

	// Full are the ranges of which little is left. Nothing is broken by that alone.
	Full []Full

	// Unjudged is what cannot be judged for lack of objects. Supposed is what would be
	// wrong of that if what is assumed instead were so; no repair is offered.
	Unjudged []scenarios.Unjudged
	Supposed []Finding
	// Refuted are black holes that the routes of nodes show not to be there; Unplaced is where
	// routes and addresses begin of which it is not known of which node they are.
	Refuted  []Refuted
	Unplaced []dump.Origin
	// Style is how Write tells it.
	Style Style

	routes  observer
	lent    map[string]Borrowed // of Borrowed, by address
	dropped []Finding           // about nodes that the dump does not have: they are not reported
	cluster *dump.Cluster
	bound   Bound
	pods    int
}

// Finding is one broken invariant.
type Finding struct {
	model.Violation
	// Check is a command line that tells whether it is so, with where to type it; ""
	// where there is nothing to doubt.
	Check string
	// Decide is what the operator has to decide where nothing is simulated; "": what is said of
	// its invariant.
	Decide string
	// Problem is which of Findings.Results is about it, from 1; 0: none.
	Problem int
}

// Borrowed is an address that a node has of another one's block.
type Borrowed struct {
	Addr        netip.Addr
	Node, Owner string // "": the block is nobody's
	Pod         string
}

// Of is what looks at the scenarios of a cluster found: at the main one, and at those of
// managers that are judged apart. With commands false no command is told: the names are not
// those of the cluster.
func Of(c *dump.Cluster, v *scenarios.View, commands bool, apart ...*scenarios.View) *Findings {
	f := &Findings{Borrowed: lent(v), Unjudged: c.Unjudged(), cluster: c, pods: len(v.Truth.Sandboxes), lent: map[string]Borrowed{}}
	for _, b := range f.Borrowed {
		f.lent[b.Addr.String()] = b
	}
	f.observe(v, commands)
	for _, v := range append([]*scenarios.View{v}, apart...) {
		f.take(v, commands)
	}
	f.takeUnpredicted(v)
	f.takeFound(c.Found(), commands)
	f.takeReported(v, c.Reported(), commands)
	causesFirst(f.All)
	causesFirst(f.Supposed)
	return f
}

// take adds what one look found.
func (f *Findings) take(v *scenarios.View, commands bool) {
	f.Full = append(f.Full, FullOf(v)...)
	told := map[string]bool{} // objects of what is leaked or unclaimed cannot converge, which is no news
	for _, x := range v.Violations {
		if x.Invariant != invariant.Convergence.Name {
			told[fmt.Sprint(x.Objects)] = true
		}
	}
	for _, x := range v.Violations {
		if x.Invariant == invariant.Convergence.Name && told[fmt.Sprint(x.Objects)] {
			continue
		}
		words, covered := f.cluster.Words(&x)
		how, route := f.routes.compare(&x)
		if covered || f.refutes(&x, how, route) {
			continue
		}
		n := Finding{Violation: x}
		n.Message = cmp.Or(words, f.words(v, x, how, route))
		node, doubt := v.Truth.Pods[PodRef(model.Named(x.Objects, model.RefPod))].Node, doubtful(f.Unjudged, x.Invariant)
		switch {
		case !doubt && f.cluster.Supplied(&x, node):
			f.dropped = append(f.dropped, n)
			continue
		case doubt || how == elsewhere || f.cluster.Concluded(&x, &v.Record, node):
			f.Supposed = append(f.Supposed, n)
			continue
		}
		if commands {
			n.Check = cmp.Or(check(&n.Violation), f.cluster.Check(&n.Violation))
		}
		f.All = append(f.All, n)
	}
	for _, x := range f.exhausted(v) {
		f.All = append(f.All, Finding{Violation: x})
	}
}

// takeFound adds what importers found by themselves, unless a scenario shows the same.
func (f *Findings) takeFound(all []dump.Found, commands bool) {
	if len(all) == 0 {
		return
	}
	known := map[string]bool{}
	for _, y := range slices.Concat(f.All, f.Supposed) {
		known[y.Identity().String()] = true
	}
	for _, x := range all {
		id := x.Identity().String()
		there := known[id]
		known[id] = true
		n := Finding{Violation: x.Violation}
		switch {
		case there:
		case x.Supposed || doubtful(f.Unjudged, x.Invariant):
			f.Supposed = append(f.Supposed, n)
		default:
			if commands {
				n.Check = f.cluster.Check(&n.Violation)
			}
			f.All = append(f.All, n)
		}
	}
}

// words say what a dump can know: neither since when, nor which sandboxes live, nor
// what the routers do.
func (f *Findings) words(v *scenarios.View, x model.Violation, how sight, route *iproute.Route) string {
	x.Facts = slices.DeleteFunc(slices.Clone(x.Facts), func(f model.Fact) bool { _, when := f.Value.(time.Duration); return when })
	inv, _ := invariant.Named(x.Invariant)
	sentence := inv.Sentence(x.Code)
	switch {
	case x.Invariant == invariant.LeakedClaim.Name && x.Code == invariant.SandboxGone:
		sentence = "{address} stays claimed in[ block {block}][ pool {pool}] for {pod} (container {claimed-for}), " + unowned(v, x.Objects)
	case x.Invariant == invariant.BlackholedAddress.Name:
		sentence = predicted(&x, how, route, sentence)
		if b, ok := f.lent[model.Named(x.Objects, model.RefAddress)]; ok {
			x.Facts = append(x.Facts, model.NewFact("from-block", owned(b)))
			sentence += " (the address is borrowed from {from-block})"
		}
	}
	return x.Say(sentence)
}

// unowned is why a claim of a pod is leaked.
func unowned(v *scenarios.View, objects []model.Ref) string {
	ns, name, _ := strings.Cut(model.Named(objects, model.RefPod), "/")
	switch p, ok := v.Truth.Pods[model.PodRef{Namespace: ns, Name: name}]; {
	case !ok:
		return "of which the dump has no pod"
	case p.Phase == "Succeeded" || p.Phase == "Failed":
		return "which has finished"
	}
	return "which does not have it"
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

// Count is how many findings there are of each severity: 2 critical, 1 minor. "" if
// there are none.
func (f *Findings) Count() string {
	n := map[model.Severity]int{}
	for _, x := range f.All {
		n[x.Severity]++
	}
	var out []string
	for _, s := range model.Severities {
		if n[s] > 0 {
			out = append(out, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	return strings.Join(out, ", ")
}

// Write prints for people: how much is wrong, then one line for each cause, with what was
// simulated to fix it or why there is nothing, then what is borrowed, and how nodes get
// blocks.
func (f *Findings) Write(w io.Writer) {
	switch {
	case len(f.All) > 0:
		fmt.Fprintf(w, "findings: %s\n", f.Count())
	case len(f.Unjudged) > 0:
		fmt.Fprintf(w, "nothing was found wrong in what can be judged\n")
	default:
		fmt.Fprintf(w, "nothing is wrong\n")
	}
	said, done := map[string]bool{}, map[int]bool{}
	once := func(format, line string) {
		if line != "" && !said[line] {
			said[line] = true
			fmt.Fprintf(w, format, line)
		}
	}
	for i := 0; i < len(f.All); {
		n := i
		for n < len(f.All) && f.All[n].Invariant == f.All[i].Invariant {
			n++
		}
		entries := f.entries(f.Style.newFirst(f.All[i:n]))
		for k, e := range entries {
			x := e[0]
			if shown := f.Style.shown(len(entries)); k == shown {
				fmt.Fprintf(w, "finding: %s (%s): %d more; --all lists them\n", x.Invariant, x.Severity, size(entries[k:]))
				break
			}
			fmt.Fprintf(w, "finding: %s (%s%s): %s\n", x.Invariant, f.Style.mark(&x.Violation), e.count(), reports.Clean(x.Message))
			e.writeOthers(w)
			f.writeKnown(w, &x.Violation)
			once("       effect: %s\n", effect(&x.Violation))
			once("       check: %s\n", x.Check)
			switch {
			case x.Problem == 0 || x.Problem > len(f.Results):
				once("       to decide: %s\n", toDecide(x))
			case done[x.Problem]:
				fmt.Fprintf(w, "       remediation: as above\n")
			default:
				done[x.Problem] = true
				f.writeResult(w, x.Problem)
			}
		}
		i = n
	}
	f.writeRefuted(w)
	f.writeUnjudged(w)
	f.writeBorrowed(w)
	f.writeFull(w)
	f.writeShortages(w, done)
	f.writeLeftOut(w)
}

// placesShown is how many objects of one finding are named with their files.
const placesShown = 3

// writeKnown reports by which objects of the dump a finding is known.
func (f *Findings) writeKnown(w io.Writer, x *model.Violation) {
	if f.Style.Places == nil {
		return
	}
	all := f.Style.Places(x.Objects)
	more := ""
	if len(all) > placesShown {
		all, more = all[:placesShown], fmt.Sprintf(" and %d more", len(all)-placesShown)
	}
	for i := range all {
		all[i] = reports.Clean(all[i])
	}
	if len(all) > 0 {
		fmt.Fprintf(w, "       known from: %s%s\n", strings.Join(all, ", "), more)
	}
}

// writeBorrowed leaves out what is told as unreachable already.
func (f *Findings) writeBorrowed(w io.Writer) {
	told := map[string]bool{}
	for i := range f.All {
		told[model.Named(f.All[i].Objects, model.RefAddress)] = true
	}
	rest := slices.DeleteFunc(slices.Clone(f.Borrowed), func(b Borrowed) bool { return told[b.Addr.String()] })
	for i, b := range rest {
		if shown := f.Style.shown(len(rest)); i == shown {
			fmt.Fprintf(w, "borrowed: %d more; --all lists them\n", len(rest)-shown)
			break
		}
		fmt.Fprintf(w, "borrowed: %s by %s from %s\n", b.Addr, reports.Clean(b.Node), reports.Clean(owned(b)))
	}
}

func owned(b Borrowed) string {
	if b.Owner == "" {
		return "a block that belongs to no node"
	}
	return b.Owner
}
