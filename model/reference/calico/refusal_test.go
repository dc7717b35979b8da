package calico_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/model/reference/calico"
)

// What the reference does not know it says, and does not guess.
func TestNotModelled(t *testing.T) {
	ten, six := netip.MustParsePrefix("10.0.0.0/16"), netip.MustParsePrefix("fd00::/64")
	for _, p := range []calico.Pool{
		{Name: "hosts", Prefix: ten, BlockBits: 32},
		{Name: "hosts6", Prefix: six, BlockBits: 128},
		{Name: "huge", Prefix: ten, BlockBits: 19},
		{Name: "selector", Prefix: ten, NodeSelector: "rack starts with 'r'"},
		{Name: "namespaces", Prefix: ten, NamespaceSelector: "team =="},
		{Name: "open", Prefix: ten, NodeSelector: "rack in {'a'"},
		{Name: "paren", Prefix: ten, NodeSelector: "(has(rack)"},
		{Name: "quote", Prefix: ten, NodeSelector: "rack == 'a"},
		{Name: "rest", Prefix: ten, NodeSelector: "all() all()"},
	} {
		if err := calico.New(calico.Etcd).StorePool(p); !errors.Is(err, calico.ErrNotModelled) || !strings.Contains(err.Error(), "pool "+p.Name) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	a := calico.New(calico.Kubernetes)
	if err := a.StorePool(calico.Pool{Name: "p", Prefix: ten}); err != nil {
		t.Fatal(err)
	}
	if err := a.StorePool(calico.Pool{Name: "q", Prefix: ten}); !errors.Is(err, calico.ErrNotModelled) {
		t.Error(err)
	}
	a.SetNode("a", nil)
	for _, q := range []calico.Request{
		{Node: "a", V4: 1}, {Node: "a", V4: 1, Handle: "Upper"}, {Node: "a", V4: 1, Handle: "h\r"}, {Node: "a", V4: 2, Handle: "h"}, {Node: "a", Handle: "h"},
	} {
		if _, err := a.Add(q); !errors.Is(err, calico.ErrNotModelled) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if s := a.Snapshot(); len(s.Pools)+len(s.Claims)+len(s.Affinities)+len(s.Handles) > 0 {
		t.Errorf("a refusal left %+v", s)
	}
}

// A node that is gone for good: its pods' addresses go with the first pass, and its
// blocks with them. A pod that leaked on a living node keeps its address for the
// grace period, which begins when a pass first sees it.
func TestCollectorTakesItsTime(t *testing.T) {
	a := calico.New(calico.Kubernetes)
	if err := a.CreatePool(calico.Pool{Name: "p", Prefix: netip.MustParsePrefix("10.0.0.0/24"), BlockBits: 28}); err != nil {
		t.Fatal(err)
	}
	pods := map[model.PodRef]calico.Pod{}
	for _, n := range []string{"a", "b"} {
		a.SetNode(n, nil)
		ref := model.PodRef{Namespace: "default", Name: "pod-" + n}
		got, err := a.Add(calico.Request{Node: n, Handle: "h-" + n, Pod: ref, V4: 1})
		if err != nil {
			t.Fatal(err)
		}
		pods[ref] = calico.Pod{Node: n, Addrs: got}
	}
	c := calico.NewCollector(a, 15*time.Minute)
	holds := func(now time.Duration, blocks, claims int) {
		t.Helper()
		if err := c.Pass(now, calico.PodFunc(func(r model.PodRef) (calico.Pod, bool) { p, ok := pods[r]; return p, ok })); err != nil {
			t.Fatal(err)
		}
		if s := a.Snapshot(); len(s.Pools) != blocks || len(s.Claims) != claims {
			t.Errorf("after %s there are %d blocks and %d claims, want %d and %d", now, len(s.Pools), len(s.Claims), blocks, claims)
		}
	}
	holds(0, 2, 2)
	clear(pods)
	if err := a.DeleteNode("b"); err != nil {
		t.Fatal(err)
	}
	holds(time.Minute, 1, 1)
	holds(16*time.Minute, 1, 1)
	holds(16*time.Minute+1, 1, 0) // a's only block stays
}
