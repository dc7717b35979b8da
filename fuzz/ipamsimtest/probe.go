package ipamsimtest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"testing"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// problemsMax problems of one part are reported: most mistakes occur in every call.
const problemsMax = 5

// probe is a manager that wraps another one, and checks it during a run.
type probe struct {
	m    *ipam.Manager
	inst ipam.Instance

	mu       sync.Mutex          // never held while a message waits for the schedule
	problems map[string][]string // by part
	judged   map[string]int      // number of checks by part
	given    map[string][]netip.Addr
}

func newProbe(m *ipam.Manager) *probe {
	return &probe{m: m, problems: map[string][]string{}, judged: map[string]int{}, given: map[string][]netip.Addr{}}
}

func (p *probe) bad(part, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if all := p.problems[part]; len(all) < problemsMax && !slices.Contains(all, text) {
		p.problems[part] = append(all, text)
	}
}

// judge counts a check of a part.
func (p *probe) judge(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.judged[part]++
}

// give records an address that a container got; take removes the record.
func (p *probe) give(container string, a netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.given[container] = append(p.given[container], a)
}

func (p *probe) take(container string) []netip.Addr {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.given[container]
	delete(p.given, container)
	return out
}

// occasion is what a scenario needs for a part to be checked.
var occasion = map[string]string{
	"open":      "the run opens no manager",
	"add":       "no ADD succeeds in the scenario: want a pod that gets an address",
	"del":       "no DEL succeeds in the scenario: want a timeline entry that deletes a pod",
	"observe":   "no ADD succeeds in the scenario: want a pod that gets an address",
	"act":       "no process of the manager writes an object of one of its own kinds",
	"exhausted": "no ADD fails in the scenario: want more pods than the network has addresses",
}

func (p *probe) report(t *testing.T, part string) {
	t.Helper()
	report(t, p.problems[part])
	switch {
	case p.judged[part] > 0 || t.Failed():
	case part == "exhausted" || part == "act" && len(p.kinds()) == 0:
		t.Skip("SKIPPED, not judged: " + occasion[part])
	default:
		t.Error("not judged: " + occasion[part])
	}
}

// manager returns the descriptor of the probe.
func (p *probe) manager() *ipam.Manager {
	out := *p.m
	out.Open = func(env ipam.Env) (ipam.Instance, error) {
		inst, err := p.m.Open(env)
		if err != nil {
			return inst, err
		}
		p.opened(&inst)
		p.inst = inst
		inst.Add, inst.Del = p.add, p.del
		return inst, nil
	}
	return &out
}

// opened compares an instance with its descriptor.
func (p *probe) opened(i *ipam.Instance) {
	p.judge("open")
	for name, missing := range map[string]bool{"Add": i.Add == nil, "Del": i.Del == nil, "Observe": i.Observe == nil, "Act": i.Act == nil} {
		if missing {
			p.bad("open", "Instance.%s is nil", name)
		}
	}
	for _, process := range p.m.Processes {
		if i.Run[process.Name] == nil {
			p.bad("open", "Processes names %q, and Instance.Run has no code for it", process.Name)
		}
	}
	for name := range i.Run {
		if _, ok := p.m.Process(name); !ok {
			p.bad("open", "Instance.Run has code for %q, which Processes does not name", name)
		}
	}
	slices.Sort(p.problems["open"])
}

// add executes an ADD, and before it a DEL for a sandbox that never existed.
func (p *probe) add(ctx context.Context, g *sim.Gate, c ipam.Call) (ipam.Result, error) {
	never := c
	never.Container, never.Unplug = "never-"+c.Container, nil
	if err := p.inst.Del(ctx, g, never); err != nil && ctx.Err() == nil {
		p.bad("del", "DEL of a container that was never added: %v; want success (CNI specification, DEL)", err)
	}
	out, err := p.inst.Add(ctx, g, c)
	if ctx.Err() != nil {
		return out, err
	}
	if err != nil {
		p.judge("exhausted")
		if !errors.Is(err, ipam.ErrExhausted) {
			p.bad("exhausted", "ADD of %s failed with %q, which does not wrap ipam.ErrExhausted: if no address was left, wrap it", c.Pod, err)
		}
		return out, err
	}
	p.judge("add")
	if len(out.Addrs) == 0 {
		p.bad("add", "ADD of %s returned no address and no error", c.Pod)
	}
	record := p.observe(ctx, g)
	for _, a := range out.Addrs {
		p.give(c.Container, a.Addr())
		claimed := func(k model.Claim) bool {
			return k.Addr == a.Addr() && (k.Container == c.Container || k.Pod == c.Pod)
		}
		switch {
		case !a.IsValid() || a.Bits() == 0:
			p.bad("add", "ADD of %s returned %q, want an address with the length of its network's prefix", c.Pod, a)
		case !slices.ContainsFunc(record.Claims, claimed):
			p.bad("add", "ADD of %s returned %s, and Observe shows no claim of it for that pod", c.Pod, a)
		}
	}
	return out, nil
}

// del executes a DEL twice.
func (p *probe) del(ctx context.Context, g *sim.Gate, c ipam.Call) error {
	if err := p.inst.Del(ctx, g, c); err != nil || ctx.Err() != nil {
		return err
	}
	p.judge("del")
	again := c
	again.Unplug = nil
	if err := p.inst.Del(ctx, g, again); err != nil && ctx.Err() == nil {
		p.bad("del", "a second DEL of the same container: %v; want success (CNI specification, DEL)", err)
	}
	if ctx.Err() != nil {
		return nil
	}
	gone := p.take(c.Container)
	for _, k := range p.observe(ctx, g).Claims {
		if k.Container == c.Container || k.Container == "" && k.Pod == c.Pod && slices.Contains(gone, k.Addr) {
			p.bad("del", "after a DEL that succeeded, Observe still shows %s for container %.12s of %s", k.Addr, c.Container, c.Pod)
		}
	}
	return nil
}

// observe reads the record twice.
func (p *probe) observe(ctx context.Context, g *sim.Gate) model.Snapshot {
	p.judge("observe")
	steps := len(g.World().Trace().Steps)
	one, err := p.inst.Observe(ctx)
	two, err2 := p.inst.Observe(ctx)
	switch {
	case err != nil || err2 != nil:
		p.bad("observe", "Observe: %v", errors.Join(err, err2))
	case !reflect.DeepEqual(one, two):
		p.bad("observe", "Observe said two things of one record: does it range over a map?")
	}
	if n := len(g.World().Trace().Steps) - steps; n > 0 {
		p.bad("observe", "Observe took %d steps of the schedule, want none: read with Env.API.List, and not through a gate", n)
	}
	if !slices.IsSortedFunc(one.Claims, func(a, b model.Claim) int { return compareClaims(a, b) }) {
		p.bad("observe", "Observe's claims are not sorted by pool, then address")
	}
	return one
}

func compareClaims(a, b model.Claim) int {
	switch {
	case a.Pool < b.Pool:
		return -1
	case a.Pool > b.Pool:
		return 1
	}
	return a.Addr.Compare(b.Addr)
}

// kinds returns the resources of the manager's own definitions.
func (p *probe) kinds() (out []string) {
	crds, err := p.m.Definitions()
	if err != nil {
		return nil
	}
	for _, d := range crds {
		out = append(out, d.Spec.Names.Plural)
	}
	return out
}

// acts checks the result of Act for each write of the run.
func (p *probe) acts(rep *reports.Report) {
	own, described := p.kinds(), false
	for _, s := range rep.Trace.Steps {
		x, ok := s.Detail.(kube.Exchange)
		if !ok || x.Bare || !slices.Contains(own, x.Resource) || x.Subresource != "" || x.Status >= 400 {
			continue
		}
		if _, ours := slices.BinarySearch(rep.Upstreams, s.Choice.Op.Actor); !ours {
			continue
		}
		switch x.Verb {
		case "create", "update", "patch", "delete":
		default:
			continue
		}
		if x.Verb == "delete" {
			continue
		}
		p.judge("act")
		if a := rep.Act(x); a.Verb == "" || a.Bare {
			p.bad("act", "Act does not say what was in a write by %s (the zero Act, or Act.Bare): %s of %s", s.Choice.Op.Actor.Kind(), x.Verb, x.Resource)
		} else {
			described = true
		}
	}
	if described { // for kinds of settings no description is needed
		delete(p.problems, "act")
	}
}
