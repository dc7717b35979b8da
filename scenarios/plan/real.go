package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
	"ipamsim/model/metric"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan/cost"
	"ipamsim/scenarios/plan/values"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/kubeapi"
)

// real runs a trace with the real code, as a scenario with the events of the trace at their times.
//
// The second result is the reason why the run does not count, or "".
func (p *Plan) real(ctx context.Context, r *scenarios.Runner, c *capacity.Cluster, pt Point) (*capacity.Course, string, error) {
	if c.Apart == 0 {
		return nil, "too much happens for the real code: less than five seconds for each event", nil
	}
	if why := p.tooMuch(c); why != "" {
		return nil, why, nil
	}
	if unable := p.manager.Real.Unable; unable != nil {
		if why := unable(c); why != "" {
			return nil, why, nil
		}
	}
	s, err := p.script(c, pt)
	if err != nil {
		return nil, "", err
	}
	if s.crowded != "" {
		return nil, s.crowded, nil
	}
	course := s.course()
	o := scenarios.Options{Store: scenarios.Memory, InTurn: c.Apart}
	o.Samples.At = s.instants(c.Apart)
	o.Samples.See = func(i int, v metric.View) {
		x := capacity.Measure(v)
		x.At, x.Unplaced = s.samples[i].at, s.samples[i].unplaced
		if of := p.manager.Tenants; of != nil {
			of.Measure(&x, v, c)
			x.Pods, x.Waiting = s.samples[i].wanted, s.samples[i].wanted-x.Pods
		}
		if s.samples[i].onTheWay {
			course.Migration.Saw(x)
			return
		}
		course.Samples = append(course.Samples, x)
		if row := capacity.Owners(v, s.number); row != nil && len(c.Migration) == 0 {
			course.Owners = append(course.Owners, row)
		}
	}
	rep, err := r.Run(ctx, s.Scenario, o)
	if err != nil {
		return nil, "", fmt.Errorf("plan %s: %w", p.Name(), err)
	}
	if rep.Reason != "" {
		return nil, "the run of the real code was cut short: " + rep.Reason, nil
	}
	if problem := cost.Overlap(rep.History, c.Apart); problem != "" {
		return nil, problem, nil
	}
	if problem := s.astray(rep.History); problem != "" {
		return nil, problem, nil
	}
	p.summarize(course, rep, c.Apart)
	return course, "", nil
}

// script is a trace as a scenario.
type script struct {
	*scenarios.Scenario
	samples []sample
	numbers map[string]int32 // of nodes
	since   time.Duration
	tries   []try            // attempts at steps of a migration
	ahead   *capacity.Player // the reference, which simulates a migration, or tenants, beforehand
	crowded string           // why there is no room for all tries
}

// sample is a sample that is due.
type sample struct {
	at       time.Duration
	unplaced int  // pods that no node has room for then; only the trace has them
	wanted   int  // tenants that there are meant to be
	onTheWay bool // of a migration, and not one of the course
}

// course returns the start of the real code's course: the reference has determined when a step of a
// migration is retried, and so when the course begins to count.
func (s *script) course() *capacity.Course {
	out := &capacity.Course{Since: s.since, Exhausted: capacity.Never}
	if s.ahead != nil && s.ahead.Course().Migration != nil {
		out.Since = s.ahead.Course().Since
		way := *s.ahead.Course().Migration
		way.Worst = capacity.Sample{}
		out.Migration = &way
	}
	return out
}

// instants are when the samples are taken.
func (s *script) instants(apart time.Duration) (out []time.Duration) {
	for _, l := range s.samples {
		out = append(out, instantOf(workload.Event{At: l.at, Kind: workload.TakeSample}, apart))
	}
	return out
}

func (s *script) number(node string) int32 {
	if i, ok := s.numbers[node]; ok {
		return i
	}
	return -1
}

func (p *Plan) script(c *capacity.Cluster, pt Point) (*script, error) {
	m, out := p.made[pt.Cell], &script{numbers: map[string]int32{}, since: c.Judged()}
	objects, err := p.stored(c, m, out.numbers)
	if err != nil {
		return nil, err
	}
	d := scenarios.Document{APIVersion: scenarios.APIVersion, Kind: scenarios.Kind, Metadata: scenarios.Metadata{Name: p.Name()}}
	d.Spec = p.settings(c, m, pt)
	add := func(at time.Duration, e scenarios.Event) {
		e.At = metav1.Duration{Duration: at}
		d.Spec.Timeline = append(d.Spec.Timeline, e)
	}
	t := c.Trace(pt.Seed)
	if len(c.Migration) > 0 || p.manager.Tenants != nil {
		if out.ahead, err = capacity.NewPlayer(c, t); err != nil {
			return nil, err
		}
	}
	of, wanted := p.tenants(c, pt, out, add), 0
	for e := range t.Events() {
		if out.ahead != nil {
			if err := out.ahead.Do(e); err != nil {
				return nil, err
			}
		}
		at := instantOf(e, c.Apart)
		switch e.Kind {
		case workload.TakeSample, workload.TakeStepSample:
			out.samples = append(out.samples, sample{e.At, t.Unplaced(), wanted, e.Kind == workload.TakeStepSample})
		case workload.StepBegins:
			for _, action := range m.steps[e.Node].Events {
				add(at, action)
				out.tries = append(out.tries, try{at, e.Node, t.Refused()})
			}
		case workload.Pass:
			add(at, scenarios.Event{Action: &action.Reconcile{Name: p.manager.Pass}})
		case workload.NodeJoins:
			n := t.Node(e.Node)
			out.numbers[n.Name] = e.Node
			var body json.RawMessage
			if body, err = nodeBody(n, p.base.Manager().Annotations.Node); err != nil {
				return nil, err
			}
			add(at+c.Apart/64, scenarios.Event{Action: &action.Apply{Object: body}})
			add(at+c.Apart/32, scenarios.Event{Action: &action.PowerOn{Node: n.Name}})
		case workload.PodStarts:
			wanted++
			var body json.RawMessage
			if body, err = of.body(t.Pod(e.Pod), t.Node(e.Node).Name, m.scenario); err != nil {
				return nil, err
			}
			add(at, scenarios.Event{Action: &action.Apply{Object: body}})
		case workload.PodStops:
			wanted--
			ref := t.Pod(e.Pod)
			add(at, scenarios.Event{Action: &action.Delete{Resource: of.resource, Namespace: ref.Namespace, Name: ref.Name}})
		case workload.NodeDown:
			add(at, scenarios.Event{Action: &action.Crash{Node: t.Node(e.Node).Name}})
		case workload.NodeUp:
			add(at, scenarios.Event{Action: &action.PowerOn{Node: t.Node(e.Node).Name}})
		case workload.NodeDeleted:
			add(at, scenarios.Event{Action: &action.Delete{Resource: "nodes", Name: t.Node(e.Node).Name}})
		case workload.PodMarked, workload.PodRemoved: // the cluster's own controllers do
		case workload.StepEnds:
		}
	}
	slices.SortStableFunc(d.Spec.Timeline, func(a, b scenarios.Event) int { return int(a.At.Duration - b.At.Duration) })
	out.Scenario, err = m.scenario.With(d, objects)
	return out, err
}

// stored returns the objects before the first event, with the numbers of its nodes.
func (p *Plan) stored(c *capacity.Cluster, m *made, numbers map[string]int32) ([]cluster.Object, error) {
	objects := slices.Clone(m.scenario.Objects)
	for i, n := range m.machines {
		numbers[n.Name] = int32(i)
		objects = append(objects, cluster.Object{Kind: nodeKind, Name: n.Name, Body: n.body})
	}
	objects = append(objects, p.residents(c)...)
	if p.manager.Real.Objects == nil {
		return objects, nil
	}
	return p.manager.Real.Objects(objects, c)
}

// tooMuch renders why the real code would take too long, or "".
func (p *Plan) tooMuch(c *capacity.Cluster) string {
	if p.manager.Real.TooMuch == nil {
		return ""
	}
	return p.manager.Real.TooMuch(c)
}

// settings are the scenario's without its timeline.
func (p *Plan) settings(c *capacity.Cluster, m *made, pt Point) scenarios.Spec {
	span := func(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }
	seed := pt.Seed
	s := scenarios.Spec{
		Title: p.Doc.Spec.Title, IPAM: p.Manager(), MayFail: true, // Services without room are refused
		Controllers: "simple", Seed: &seed, Fabric: c.Fabric, Strategy: "timed",
		Until: span(c.Horizon + c.Apart/2), Latencies: map[string]scenarios.Latency{"api": {Median: span(p.latency(c)), Spread: 0.1}},
		Limits: scenarios.Limits{Steps: stepsMax, Virtual: span(c.Horizon + values.Day)},
	}
	silent := c.Evict() / 8
	s.Timers = scenarios.Timers{
		NodeMonitorGrace: span(silent), Toleration: span(c.Evict() - silent - c.Apart/WorkAt), // so that pods are marked at the times of the trace
		PodGC: span(workload.PodGC - c.Apart/WorkAt), SandboxRetry: span(workload.Retry),
	}
	s.Datastore = p.datastore(m.scenario.Doc.Spec.Datastore)
	if daemons := p.manager.Real.Daemons; daemons != nil {
		s.Daemons = daemons(c)
	}
	return s
}

// stepsMax cuts a run short that would take hours.
const stepsMax = 20_000_000

// residents returns the manifests of the pods that run at the beginning, in the order of the trace.
func (p *Plan) residents(c *capacity.Cluster) (out []cluster.Object) {
	of := map[model.PodRef]cluster.Object{}
	for _, o := range p.base.Objects {
		if o.Kind == podKind {
			of[model.PodRef{Namespace: o.Namespace, Name: o.Name}] = o
		}
	}
	for i := range c.Pods {
		out = append(out, of[c.Pods[i].Ref])
	}
	return out
}

func nodeBody(n workload.Node, annotation string) (json.RawMessage, error) {
	b := Body{}
	if err := json.Unmarshal(kubeapi.NodeManifest(n.Name, n.Labels), &b); err != nil {
		return nil, err
	}
	if annotation != "" && n.Addr.IsValid() {
		Under(b, "metadata")["annotations"] = map[string]string{annotation: n.Addr.String()}
	}
	return json.Marshal(b)
}

// networksAnnotation is what a pod asks Multus for.
const networksAnnotation = "k8s.v1.cni.cncf.io/networks"

// podBody is a pod that is attached to all networks.
func podBody(ref model.PodRef, node string, s *scenarios.Scenario) (json.RawMessage, error) {
	meta := Body{"name": ref.Name, "namespace": ref.Namespace}
	var all []string
	for _, n := range s.Policies() {
		if n.Key != s.Primary {
			all = append(all, n.Key)
		}
	}
	if len(all) > 0 {
		meta["annotations"] = map[string]string{networksAnnotation: strings.Join(all, ",")}
	}
	return json.Marshal(Body{
		"apiVersion": "v1", "kind": podKind, "metadata": meta,
		"spec": Body{"nodeName": node, "containers": []Body{{"name": "main", "image": "main"}}},
	})
}

// summarize adds the totals of the run to the course.
func (p *Plan) summarize(c *capacity.Course, rep *reports.Report, apart time.Duration) {
	var took []time.Duration
	begun := map[string]time.Duration{}
	for i := range rep.History.Events {
		e := &rep.History.Events[i]
		switch e.Kind {
		case model.SandboxUp:
			if e.Text == "" {
				c.Adds++
			}
		case model.Operator:
			p.countTenant(c, e, apart)
		case model.AddBegin:
			begun[e.Actor] = e.At
		case model.AddEnd:
			took = append(took, e.At-begun[e.Actor])
			if e.Exhausted || p.manager.Real.Wanting != nil && p.manager.Real.Wanting(e.Err) {
				c.Wanted(e.At / apart * apart)
			}
		}
	}
	slices.Sort(took)
	if n := len(took); n > 0 {
		c.AddMedian, c.AddP99 = took[n/2], took[min(n-1, n*99/100)]
	}
	c.Peak, c.Calls, c.Digest = rep.Used.AddressesKept, rep.Calls, rep.Digest
	for _, v := range rep.Violations {
		if c.Violations == nil {
			c.Violations = map[string]int{}
		}
		c.Violations[v.Invariant]++
	}
}
