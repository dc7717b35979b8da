// Package diagnosis reports what is wrong in a dumped cluster, which simulated remediation
// fixes it, and what cannot be judged.
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

// Findings are the problems of a dumped cluster and, after Prove, their remediations.
type Findings struct {
	All []Finding // the worst first, then by invariant
	// Borrowed are the addresses that a node has from another node's block, sorted.
	// Borrowing alone is not a problem.
	Borrowed []Borrowed
	// Shortages explain why nodes without a block borrow, by address family; empty before Prove.
	Shortages []Shortage
	// Results are the results of remedies, by Finding.Problem; empty before Prove.
	Results []remedy.Result
	// Together is the outcome of all remedies that passed, one after another; nil: not
	// simulated.
	Together *remedy.Outcome

	// Full are the ranges that are nearly full. That alone is not a problem.
	Full []Full

	// Unjudged is what cannot be judged because objects are missing. Supposed are the findings
	// that depend on assumptions about the missing objects; they have no remediation.
	Unjudged []scenarios.Unjudged
	Supposed []Finding
	// Refuted are predicted black holes that the routes of nodes refute. Unplaced are the origins
	// of routes and addresses whose node is unknown.
	Refuted  []Refuted
	Unplaced []dump.Origin
	// Style configures Write.
	Style Style

	routes  observer
	lent    map[string]Borrowed // Borrowed by address
	dropped []Finding           // findings about nodes that the dump lacks; they are not reported
	cluster *dump.Cluster
	bound   Bound
	pods    int
}

// Finding is one broken invariant.
type Finding struct {
	model.Violation
	// Check is a command that confirms the finding, with the machine to run it on; "": the
	// finding is certain.
	Check string
	// Decide is the operator's decision if nothing is simulated; "": that of the invariant.
	Decide string
	// Problem is the number of its entry in Findings.Results, from 1; 0: none.
	Problem int
}

// Borrowed is an address that a node has from another node's block.
type Borrowed struct {
	Addr        netip.Addr
	Node, Owner string // Owner "": the block belongs to no node
	Pod         string
}

// Of collects the findings of a cluster: from the view of the main scenario and from those of
// managers that are judged separately. If commands is false, findings have no commands, because
// the names are not those of the cluster.
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

// take adds the violations of one view.
func (f *Findings) take(v *scenarios.View, commands bool) {
	f.Full = append(f.Full, FullOf(v)...)
	reported := map[string]bool{} // leaked or unclaimed objects never converge: not a finding of its own
	for _, x := range v.Violations {
		if x.Invariant != invariant.Convergence.Name {
			reported[fmt.Sprint(x.Objects)] = true
		}
	}
	for _, x := range v.Violations {
		if x.Invariant == invariant.Convergence.Name && reported[fmt.Sprint(x.Objects)] {
			continue
		}
		words, covered := f.cluster.Words(&x)
		how, way := f.routes.compare(&x)
		if covered || f.refutes(&x, how, way) {
			continue
		}
		n := Finding{Violation: x}
		n.Message = cmp.Or(words, f.words(v, x, how, way))
		node, doubt := v.Truth.Pods[PodRef(model.Named(x.Objects, model.RefPod))].Node, doubtful(f.Unjudged, x.Invariant)
		switch {
		case !doubt && f.cluster.Supplied(&x, node):
			f.dropped = append(f.dropped, n)
			continue
		case doubt || how == elsewhere || how == undecided || f.cluster.Concluded(&x, &v.Record, node):
			f.Supposed = append(f.Supposed, n)
			continue
		}
		if commands {
			n.Check = cmp.Or(check(&n.Violation), f.cluster.Check(&n.Violation))
		}
		f.All = append(f.All, n)
	}
	for _, x := range f.exhausted(v) {
		if _, covered := f.cluster.Words(&x); !covered {
			f.All = append(f.All, Finding{Violation: x})
		}
	}
}

// takeFound adds the findings of importers, unless a scenario shows the same.
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

// words renders a violation without what a dump cannot show: its time, which sandboxes run,
// and what routers do.
func (f *Findings) words(v *scenarios.View, x model.Violation, how sight, way iproute.Way) string {
	x.Facts = slices.DeleteFunc(slices.Clone(x.Facts), func(f model.Fact) bool { _, when := f.Value.(time.Duration); return when })
	inv, _ := invariant.Named(x.Invariant)
	sentence := inv.Sentence(x.Code)
	switch {
	case x.Invariant == invariant.LeakedClaim.Name && x.Code == invariant.SandboxGone:
		sentence = "{address} stays claimed in[ block {block}][ pool {pool}] for {pod} (container {claimed-for}), " + unowned(v, x.Objects)
	case x.Invariant == invariant.BlackholedAddress.Name:
		sentence = predicted(&x, how, way, sentence)
		if b, ok := f.lent[model.Named(x.Objects, model.RefAddress)]; ok {
			x.Facts = append(x.Facts, model.NewFact("from-block", owned(b)))
			sentence += " (the address is borrowed from {from-block})"
		}
	}
	return x.Say(sentence)
}

// unowned renders why a claim of a pod is leaked.
func unowned(v *scenarios.View, objects []model.Ref) string {
	ns, name, _ := strings.Cut(model.Named(objects, model.RefPod), "/")
	switch p, ok := v.Truth.Pods[model.PodRef{Namespace: ns, Name: name}]; {
	case !ok:
		return "which is not in the dump"
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

// shownMax bounds the findings of one invariant that are printed.
const shownMax = 5

// Count renders the number of findings of each severity: "2 critical, 1 minor"; "" if there
// are none.
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

// Write prints the findings as text: their number, then each cause with its simulated
// remediation or the reason why there is none, then borrowed addresses and shortages of blocks.
func (f *Findings) Write(w io.Writer) {
	switch {
	case len(f.All) > 0:
		fmt.Fprintf(w, "findings: %s\n", f.Count())
	case len(f.Unjudged) > 0:
		fmt.Fprintf(w, "no findings in what can be judged\n")
	default:
		fmt.Fprintf(w, "no findings\n")
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

// placesShown bounds the objects of one finding that are named with their files.
const placesShown = 3

// writeKnown prints the objects of the dump on which a finding rests.
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
		fmt.Fprintf(w, "       evidence: %s%s\n", strings.Join(all, ", "), more)
	}
}

// writeBorrowed prints the borrowed addresses without a finding.
func (f *Findings) writeBorrowed(w io.Writer) {
	reported := map[string]bool{}
	for i := range f.All {
		reported[model.Named(f.All[i].Objects, model.RefAddress)] = true
	}
	rest := slices.DeleteFunc(slices.Clone(f.Borrowed), func(b Borrowed) bool { return reported[b.Addr.String()] })
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
