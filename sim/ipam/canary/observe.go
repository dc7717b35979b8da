package canary

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim/kube"
)

// Observe reads every ledger, if one changed since the last time. The snapshot
// is shared between calls and must not be changed; At is left to the caller.
func (i *instance) Observe(ctx context.Context) (model.Snapshot, error) {
	if !i.stale.Swap(false) {
		return i.record, nil
	}
	objs, err := i.api.List(ctx, poolsGVR.Resource)
	if err != nil {
		i.stale.Store(true)
		return model.Snapshot{}, fmt.Errorf("canary: observe: %w", err)
	}
	var s model.Snapshot
	spoil := ""
	for _, o := range objs {
		raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			return model.Snapshot{}, fmt.Errorf("canary: observe: %w", err)
		}
		u := &unstructured.Unstructured{Object: raw}
		l, err := decode(u)
		if err != nil {
			return model.Snapshot{}, err
		}
		rev, _ := strconv.ParseInt(u.GetResourceVersion(), 10, 64)
		l.snapshot(&s, rev)
		spoil = cmp.Or(spoil, l.Bug)
	}
	order(&s)
	if f := bugs[spoil].services; f != nil {
		s.Services = servicesOf(s.Claims)
		f(s.Services)
	}
	if f := bugs[spoil].claims; f != nil {
		f(s.Claims)
	}
	if s.Networks, err = i.policy(ctx); err != nil {
		return model.Snapshot{}, err
	}
	i.record = s
	return s, nil
}

// policy is the networks with blocks, each with the nodes there are now, if there
// are such networks.
func (i *instance) policy(ctx context.Context) ([]model.Network, error) {
	if !slices.ContainsFunc(i.networks, func(n model.Network) bool { return n.Blocks != nil }) {
		return nil, nil
	}
	objs, err := i.api.List(ctx, "nodes")
	if err != nil {
		i.stale.Store(true)
		return nil, fmt.Errorf("canary: observe: %w", err)
	}
	var nodes []string
	for _, o := range objs {
		m, err := meta.Accessor(o)
		if err != nil {
			return nil, fmt.Errorf("canary: observe: %w", err)
		}
		nodes = append(nodes, m.GetName())
	}
	slices.Sort(nodes)
	out := slices.Clone(i.networks)
	for n := range out {
		if out[n].Blocks != nil {
			out[n] = withNodes(out[n], nodes)
		}
	}
	return out, nil
}

// withNodes is a network with blocks whose pool takes the nodes.
func withNodes(n model.Network, nodes []string) model.Network {
	b := *n.Blocks
	b.Pools = slices.Clone(b.Pools)
	b.Pools[0].Nodes = nodes
	n.Blocks = &b
	return n
}

func (i *instance) noticed(c kube.Change) {
	if c.Resource == poolsGVR.Resource || c.Resource == "nodes" {
		i.stale.Store(true)
	}
}

// snapshot adds what one ledger says.
func (l *ledger) snapshot(s *model.Snapshot, revision int64) {
	for _, p := range l.Pools {
		s.Pools = append(s.Pools, model.Pool{Name: l.full(p.Name), Network: l.Network, Range: p.Range, Node: p.Node, Lost: p.Lost})
	}
	for _, k := range l.Claims {
		c := model.Claim{
			Pool: l.full(k.Pool), Network: l.Network, Addr: k.Addr,
			Pod: podRef(k.Pod), Container: k.Container, Interface: k.Interface, Revision: revision,
		}
		if k.Node != "" {
			c.Handle, c.Node = handleOf(k), k.Node
		}
		s.Claims = append(s.Claims, c)
	}
	for _, a := range l.Affinities {
		s.Affinities = append(s.Affinities, model.Affinity{Block: a.Block, Node: a.Node, State: model.Confirmed})
	}
	for _, h := range l.Handles {
		s.Handles = append(s.Handles, model.Handle{ID: h.ID, Counts: []model.HandleCount{{Block: h.Block, Count: h.Count}}})
	}
	for _, r := range l.Reservations {
		s.Reservations = append(s.Reservations, model.Reservation{
			Name: l.full(r.Addr.String()), Network: l.Network, Addr: r.Addr, Pod: podRef(r.Pod), Interface: r.Interface,
		})
	}
}

// full makes a name unique among all ledgers.
func (l *ledger) full(name string) string { return objectName(l.Network) + "/" + name }

func order(s *model.Snapshot) {
	slices.SortFunc(s.Pools, func(a, b model.Pool) int {
		return cmp.Or(cmp.Compare(a.Network, b.Network), a.Range.Compare(b.Range), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(s.Claims, func(a, b model.Claim) int {
		return cmp.Or(cmp.Compare(a.Pool, b.Pool), a.Addr.Compare(b.Addr), cmp.Compare(a.Container, b.Container))
	})
	slices.SortFunc(s.Affinities, func(a, b model.Affinity) int {
		return cmp.Or(a.Block.Compare(b.Block), cmp.Compare(a.Node, b.Node))
	})
	slices.SortStableFunc(s.Handles, func(a, b model.Handle) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(s.Reservations, func(a, b model.Reservation) int {
		return cmp.Or(cmp.Compare(a.Network, b.Network), a.Addr.Compare(b.Addr), a.Pod.Compare(b.Pod))
	})
}

// Act says what an exchange did to a ledger.
func (i *instance) Act(detail any) act.Act {
	x, ok := detail.(kube.Exchange)
	if !ok || x.Bare || x.Resource != poolsGVR.Resource {
		return act.Act{}
	}
	a := x.Act()
	a.Bare, a.Thing = false, act.Thing{Kind: act.Ledger, Name: x.Name}
	raw := x.Request
	switch a.Verb {
	case act.Read:
		if a.Outcome != act.Done {
			return a
		}
		raw = x.Response
	case act.Create, act.Update:
	default:
		return act.Act{}
	}
	l, revision, ok := body(raw)
	if !ok {
		return act.Act{}
	}
	if a.Thing.Used, a.Thing.Parts = len(l.Claims), l.last(); a.Verb == act.Read {
		a.Thing.Revision = revision
	} else {
		a.If = revision
	}
	return a
}

func body(raw []byte) (l ledger, revision string, ok bool) {
	var u unstructured.Unstructured
	if json.Unmarshal(raw, &u.Object) != nil || u.Object == nil {
		return ledger{}, "", false
	}
	l, err := decode(&u)
	return l, u.GetResourceVersion(), err == nil
}

// last are the last few claims: those are news.
func (l *ledger) last() []act.Thing {
	const most = 4
	var out []act.Thing
	for _, k := range l.Claims[max(0, len(l.Claims)-most):] {
		out = append(out, act.Thing{Kind: act.Address, Name: k.Addr.String(), Owner: model.Ref{Kind: model.RefPod, Name: k.Pod}})
	}
	return out
}
