package canary

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"ipamsim/model"
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
	}
	order(&s)
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
		s.Pools = append(s.Pools, model.Pool{Name: l.full(p.Name), Network: l.Network, Range: p.Range, Node: p.Node})
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
		return cmp.Or(cmp.Compare(a.Network, b.Network), a.Addr.Compare(b.Addr), cmp.Compare(a.Pod.String(), b.Pod.String()))
	})
}

// Describe says what an exchange did to a ledger or asked about a pod.
func (i *instance) Describe(detail any) string {
	x, ok := detail.(kube.Exchange)
	if !ok || x.Bare {
		return ""
	}
	switch {
	case x.Resource == "pods" && x.Verb == "get":
		return fmt.Sprintf("asks whether %s/%s still exists", x.Namespace, x.Name)
	case x.Resource != poolsGVR.Resource:
		return ""
	}
	switch x.Verb {
	case "get":
		if l, rev, ok := body(x.Response); ok && x.Status == 200 {
			return fmt.Sprintf("reads ledger %s at revision %s: %s", x.Name, rev, l.claims())
		}
	case "create":
		if l, _, ok := body(x.Request); ok {
			return fmt.Sprintf("begins ledger %s with %s", objectName(l.Network), l.claims())
		}
	case "update":
		if l, rev, ok := body(x.Request); ok {
			return fmt.Sprintf("writes ledger %s, if still at revision %s: %s", x.Name, rev, l.claims())
		}
	}
	return ""
}

func body(raw []byte) (l ledger, revision string, ok bool) {
	var u unstructured.Unstructured
	if json.Unmarshal(raw, &u.Object) != nil || u.Object == nil {
		return ledger{}, "", false
	}
	l, err := decode(&u)
	return l, u.GetResourceVersion(), err == nil
}

// claims lists the claims for people, the last few of them: those are news.
func (l *ledger) claims() string {
	const most = 4
	if len(l.Claims) == 0 {
		return "no claims"
	}
	var s []string
	if n := len(l.Claims) - most; n > 0 {
		s = append(s, fmt.Sprintf("%d older", n))
	}
	for _, k := range l.Claims[max(0, len(l.Claims)-most):] {
		s = append(s, k.Addr.String()+" of "+k.Pod)
	}
	return strings.Join(s, ", ")
}
