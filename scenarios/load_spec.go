package scenarios

import (
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"ipamsim/model/invariant"
	"ipamsim/scenarios/strict"
	"ipamsim/sim"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/strategy"
	"ipamsim/sim/way"
)

// Bounds of a scenario. A longer one is a plan, not a scenario.
const (
	untilMax = 24 * time.Hour
	nodesMax = 10_000 // twice what Kubernetes supports
	linesMax = 10_000 // entries of the timeline
)

// classes of message that a latency can be given for.
var classes = []string{"annotate", "api", "draw", "route", "sandbox", "start", "status", "stop", "watch"}

// check collects the first of several mistakes in the Scenario document.
type check struct {
	doc *strict.Doc
	err error
}

// bad notes a mistake if there is one.
func (c *check) bad(is bool, p path, format string, args ...any) {
	if is && c.err == nil {
		c.err = c.doc.FailAt(p, format, args...)
	}
}

// must notes a problem unless it is "".
func (c *check) must(problem string, p path) { c.bad(problem != "", p, "%s", problem) }

// once notes what stands in a list a second time.
func (c *check) once(list []string, p path) {
	for i, s := range list {
		c.bad(slices.Index(list, s) < i, p.Then(i), "%s is listed twice", strict.Quote(s))
	}
}

// spec checks everything but the timeline beyond its types.
func (l *loader) spec() error {
	s, c := l.s.Doc.Spec, &check{doc: l.doc}
	c.must(badName(l.s.Doc.Metadata.Name), at("metadata", "name"))
	c.bad(len(l.nodes) == 0, at("spec", "nodes"), "no node: list some here, or add a Node manifest")
	c.bad(s.Until.Duration == 0, at("spec", "until"), "must be more than 0")
	c.bad(s.Until.Duration > untilMax, at("spec", "until"), "%s is too long, want at most 24h", brief(s.Until))
	c.bad(s.Settle.Duration > untilMax, at("spec", "settle"), "%s is too long, want at most 24h", brief(s.Settle))
	if s.Strategy != "" {
		if _, err := strategy.Parse(s.Strategy, 1, strategy.Settings{}); err != nil {
			c.bad(true, at("spec", "strategy"), "%s", unknownStrategy(s.Strategy, err))
		}
	}
	c.bad(s.Limits.Steps < 0, at("spec", "limits", "steps"), "must not be negative")
	l.times(c)
	l.imported(c)
	l.found(c)
	l.datastore(c)
	l.controllers(c)
	l.simple(c)
	l.fabric(c)
	l.outside(c)
	l.metrics(c)
	l.latencies(c)
	l.background(c)
	l.churn(c)
	l.faults(c)
	l.hazards(c)
	l.expect(c)
	return c.err
}

// brief is a duration as people write it: 2m, not 2m0s.
func brief(d metav1.Duration) string {
	s := d.Duration.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func unknownStrategy(name string, err error) string {
	if word, _, _ := strings.Cut(name, "("); !slices.Contains(strategy.Names(), word) {
		return strict.Quote(name) + " is no strategy, " + strict.Want(word, strategy.Names())
	}
	return strict.OneLine(err)
}

func (l *loader) latencies(c *check) {
	given, recorded := l.s.Doc.Spec.Latencies, l.s.Doc.Spec.Schedule != nil // making small once left such
	for _, class := range names(given) {
		p, v := at("spec", "latencies", class), given[class]
		c.bad(!slices.Contains(classes, class), p, "%s is not a class of messages, %s", strict.Quote(class), strict.Want(class, classes))
		c.bad(v.Spread < 0 || v.Spread > 10, p.Then("spread"), "want 0 to 10, e.g. 0.5 for a quiet server")
		c.must(badProbability(v.Tail), p.Then("tail"))
		c.bad(v.Tail > 0 && v.Slow.Duration == 0, p.Then("slow"), "missing: tail requires it")
		c.bad(v.Tail == 0 && v.Slow.Duration > 0 && !recorded, p.Then("tail"), "requires tail")
		c.bad(v.Median.Duration > 0 && v.Median.Duration < v.Min.Duration && !recorded, p.Then("median"), "%s is less than min, %s", brief(v.Median), brief(v.Min))
	}
}

func badProbability(v float64) string {
	if v < 0 || v > 1 || math.IsNaN(v) {
		return "want a probability, 0 to 1"
	}
	return ""
}

func (l *loader) background(c *check) {
	s, name := l.s.Doc.Spec, l.ipam.Name
	passes, daemons := passes(l.ipam), daemons(l.ipam)
	for i, r := range s.Reconcilers {
		p := at("spec", "reconcilers", i)
		c.must(badRole(r.Name, name, "reconciler", passes, daemons), p.Then("name"))
		c.must(badSchedule(r.Schedule), p.Then("schedule"))
		c.bad(r.Count < 0 || r.Count > action.PassesMax, p.Then("count"), "want 1 to %d concurrent passes", action.PassesMax)
		c.bad(r.AllNodes && len(r.Nodes) > 0, p.Then("nodes"), "either nodes or allNodes, not both")
		c.once(r.Nodes, p.Then("nodes"))
		for j, n := range r.Nodes {
			c.must(l.badNode(n), p.Then("nodes").Then(j))
		}
	}
	for i, d := range s.Daemons {
		p := at("spec", "daemons", i)
		c.must(badRole(d, name, "daemon", daemons, passes), p)
		known, _ := l.ipam.Process(d)
		c.bad(slices.Index(s.Daemons, d) < i && !known.Several, p, "%s is listed twice", d)
	}
}

// badNode describes an invalid reference to a node; "" if it is valid.
func (l *loader) badNode(name string) string {
	if l.nodes[name] {
		return ""
	}
	return "there is no node " + strict.Quote(name) + ", " + strict.Want(name, names(l.nodes))
}

func (l *loader) churn(c *check) {
	for i, ch := range l.s.Doc.Spec.Churn {
		p := at("spec", "churn", i)
		c.bad(ch.Every.Duration == 0, p.Then("every"), "must be more than 0")
		c.bad(ch.Until.Duration > 0 && ch.Until.Duration <= ch.From.Duration, p.Then("until"), "%s is not after from, %s", brief(ch.Until), brief(ch.From))
		c.bad(ch.Force < 0 || ch.Force > 10, p.Then("force"), "want 0 to 10: the number of forced deletions out of ten")
		c.must(l.badWorkload(ch.Workload), p.Then("workload"))
	}
}

// badWorkload describes an invalid KIND/NAMESPACE/NAME; "" if it is valid.
func (l *loader) badWorkload(s string) string {
	if s == "" {
		return ""
	}
	var all []string
	for id := range l.s.docs {
		if _, ok := templates[id.kind]; ok && id.kind != "Pod" {
			full := id.kind + "/" + id.namespace + "/" + id.name
			if strings.EqualFold(full, s) {
				return ""
			}
			all = append(all, full)
		}
	}
	if strings.Count(s, "/") != 2 {
		return strict.Quote(s) + " is no workload, want KIND/NAMESPACE/NAME, e.g. StatefulSet/default/web"
	}
	return "there is no workload " + strict.Quote(s) + ", " + strict.Want(s, all)
}

func (l *loader) faults(c *check) {
	f := l.s.Doc.Spec.Faults
	c.bad(f.Max < 0, at("spec", "faults", "max"), "must not be negative")
	c.once(f.Allowed, at("spec", "faults", "allowed"))
	for i, name := range f.Allowed {
		c.must(badFault(name), at("spec", "faults", "allowed", i))
	}
	for _, name := range names(f.Rates) {
		p := at("spec", "faults", "rates", name)
		c.must(badFault(name), p)
		c.must(badProbability(f.Rates[name]), p)
		c.bad(len(f.Allowed) > 0 && !slices.Contains(f.Allowed, name), p, "has a rate and is not among allowed")
	}
	c.once(f.Answers, at("spec", "faults", "answers"))
	for i, name := range f.Answers {
		c.must(badWay(name), at("spec", "faults", "answers", i))
	}
	for i, s := range f.Only {
		c.bad(s == "", at("spec", "faults", "only", i), "an empty text is part of every message")
	}
	c.bad(f.Max == 0 && len(f.Allowed)+len(f.Answers)+len(f.Only)+len(f.Rates) > 0, at("spec", "faults", "max"), "missing: without it no fault is injected at all")
}

func badWay(name string) string {
	if _, err := way.Parse(name); err == nil {
		return ""
	}
	return strict.Quote(name) + " is not an answer to a fault, " + strict.Want(name, way.Names())
}

func badFault(name string) string {
	var known []string
	for o := sim.FailBefore; o <= sim.Crash; o++ {
		known = append(known, o.String())
	}
	if slices.Contains(known, name) {
		return ""
	}
	return strict.Quote(name) + " is no fault, " + strict.Want(name, known)
}

func (l *loader) expect(c *check) {
	s := l.s.Doc.Spec
	if e := s.Expect; e != nil {
		for i, name := range e.Violations {
			c.must(badInvariant(name), at("spec", "expect", "violations", i))
		}
		if _, err := version.ParseGeneric(e.Fixed); err != nil && e.Fixed != "" {
			c.bad(true, at("spec", "expect", "fixed"), "%v", err)
		}
		c.once(e.Violations, at("spec", "expect", "violations"))
		c.once(e.May, at("spec", "expect", "may"))
		for i, name := range e.May {
			c.bad(slices.Contains(e.Violations, name), at("spec", "expect", "may", i), "%s must be violated, by violations: it cannot be one that may", name)
			c.must(badInvariant(name), at("spec", "expect", "may", i))
		}
	}
	if s.Schedule != nil {
		s.Schedule.check(c, at("spec", "schedule"))
	}
}

func badInvariant(name string) string {
	var known []string
	for _, i := range invariant.All() {
		known = append(known, i.Name)
	}
	if slices.Contains(known, name) {
		return ""
	}
	return strict.Quote(name) + " is no invariant, " + strict.Want(name, known)
}
