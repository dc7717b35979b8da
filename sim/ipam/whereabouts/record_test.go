package whereabouts

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"ipamsim/model"
	storage "ipamsim/sim/ipam/whereabouts/upstream/pkg/storage/kubernetes"
	"ipamsim/sim/kube"
)

func put(t *testing.T, i *instance, resource, body string) {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(body), &u.Object); err != nil {
		t.Fatal(err)
	}
	i.record.changed(kube.Change{Group: apiGroup, Resource: resource, Namespace: namespace, Name: u.GetName(), Object: u})
}

func observed(t *testing.T, i *instance) model.Snapshot {
	t.Helper()
	s, err := i.Observe(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Nothing that an operator's hand can leave in the store breaks the record.
func TestGarbage(t *testing.T) {
	i := &instance{record: newRecord(nil)}
	put(t, i, poolsResource, `{"metadata":{"name":"10.0.0.0-24","resourceVersion":"7"},"spec":{"range":"10.0.0.0/24","allocations":{
		"1":{"id":"c","podref":"default/web-0","ifname":"net1"}, "300":{"podref":"a/b"}, "-1":{}, "x":{}, "4294967295":{}, "99999999999999999999":{}, "2":null, "3":7, "4":{"podref":"x","id":9}}}}`)
	put(t, i, poolsResource, `{"metadata":{"name":"no-range"},"spec":{}}`)
	put(t, i, poolsResource, `{"metadata":{"name":"no-spec"}}`)
	put(t, i, poolsResource, `{"metadata":{"name":"odd"},"spec":{"range":"10.2.0.5/24","allocations":{"1":{}}}}`)
	put(t, i, poolsResource, `{"metadata":{"name":"six"},"spec":{"range":"fd00::/64","allocations":{"16":{"podref":"a/b"}}}}`)
	put(t, i, reservationsResource, `{"metadata":{"name":"nonsense"},"spec":{"podref":"default/web-0"}}`)
	put(t, i, reservationsResource, `{"metadata":{"name":"fd00--1"},"spec":{"podref":"default/web-0"}}`)
	s := observed(t, i)
	got := ""
	for _, c := range s.Claims {
		got += fmt.Sprintf("%s %s %q;", c.Pool, c.Addr, c.Pod)
	}
	want := `10.0.0.0-24 10.0.0.1 "default/web-0";10.0.0.0-24 10.0.0.2 "/";10.0.0.0-24 10.0.0.3 "/";10.0.0.0-24 10.0.0.4 "/x";10.0.0.0-24 10.0.1.44 "a/b";odd 10.2.0.6 "/";six fd00::10 "a/b";`
	if got != want {
		t.Errorf("claims\n got %s\nwant %s", got, want)
	}
	if len(s.Pools) != 3 || len(s.Reservations) != 1 || s.Claims[0].Revision != 7 || s.Claims[0].Container != "c" || s.Claims[0].Interface != "net1" {
		t.Errorf("%+v", s)
	}
	i.record.changed(kube.Change{Group: apiGroup, Resource: poolsResource, Namespace: namespace, Name: "10.0.0.0-24"})
	i.record.changed(kube.Change{Group: apiGroup, Resource: reservationsResource, Namespace: namespace, Name: "fd00--1"})
	if s := observed(t, i); len(s.Pools) != 2 || len(s.Reservations) != 0 {
		t.Errorf("%+v", s)
	}
}

// Names that upstream composes are split correctly.
func TestNames(t *testing.T) {
	nets := []model.Network{
		{Ranges: []model.Range{span("10.0.0.0/24", "10.0.0.1", "10.0.0.254")}},
		{Name: "blue", Ranges: []model.Range{span("10.0.0.0/24", "10.0.0.1", "10.0.0.254")}},
		{Name: "blue-2", Ranges: []model.Range{span("fd00::/64", "fd00::1", "fd00::2")}},
		{Name: "sliced", Slice: 26, Ranges: []model.Range{span("10.1.0.0/16", "10.1.0.1", "10.1.255.254")}},
		{Slice: 26, Ranges: []model.Range{span("10.2.0.0/16", "10.2.0.1", "10.2.255.254")}},
	}
	for _, c := range []struct{ network, node, rng string }{
		{"", "", "10.0.0.0/24"}, {"blue", "", "10.0.0.0/24"}, {"blue-2", "", "fd00::/64"}, {"", "", "fd00::/64"}, {"", "", "fd00:1:2:3:4:5:6:0/112"},
		{"sliced", "node-1", "10.1.0.64/26"}, {"sliced", "a.b.c-1", "10.1.4.0/26"}, {"", "node-1.example", "10.2.0.0/26"}, {"removed-1", "", "10.9.0.0/16"},
	} {
		i := &instance{record: newRecord(nets)}
		name := storage.IPPoolName(storage.PoolIdentifier{IpRange: c.rng, NetworkName: c.network, NodeName: c.node})
		put(t, i, poolsResource, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"range":%q,"allocations":{}}}`, name, c.rng))
		if p := observed(t, i).Pools[0]; p.Network != c.network || p.Node != c.node || p.Range.String() != c.rng {
			t.Errorf("%s: %+v, want %v", name, p, c)
		}
	}
	for _, c := range []struct{ network, addr string }{
		{"", "10.0.0.1"}, {"blue", "10.0.0.1"}, {"blue-2", "fd00::1"}, {"", "fd00::"}, {"sliced", "fd00:1:2:3:4:5:6:7"}, {"gone-1", "10.0.0.9"}, {"blue", "::1"},
	} {
		i := &instance{record: newRecord(nets)}
		put(t, i, reservationsResource, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"podref":"a/b","ifname":"net1"}}`, storage.NormalizeIP(net.ParseIP(c.addr), c.network)))
		s := observed(t, i)
		if len(s.Reservations) != 1 || s.Reservations[0].Network != c.network || s.Reservations[0].Addr.String() != c.addr || s.Reservations[0].Interface != "net1" {
			t.Errorf("%v: %+v", c, s.Reservations)
		}
	}
}

// Looking again while nothing changed costs nothing.
func TestObserveIsCached(t *testing.T) {
	i := &instance{record: newRecord(nil)}
	put(t, i, poolsResource, many(1000))
	observed(t, i)
	if n := testing.AllocsPerRun(100, func() { observed(t, i) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
