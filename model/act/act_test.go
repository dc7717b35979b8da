package act

import (
	"fmt"
	"testing"

	"ipamsim/model"
)

func pod(name string) model.Ref    { return model.Ref{Kind: model.RefPod, Name: name} }
func node(name string) model.Ref   { return model.Ref{Kind: model.RefNode, Name: name} }
func tunnel(name string) model.Ref { return model.Ref{Kind: Tunnel, Name: name} }

// What an act is about: what one object held that was read, of a list only its things,
// and of an event nothing but the thing.
func TestRefs(t *testing.T) {
	held := []Thing{{Kind: Address, Name: "10.0.0.2", Owner: pod("d/b")}, {Kind: Address, Name: "10.0.0.1", Owner: tunnel("n")}, {Kind: Entry, Name: "7"}}
	block := Thing{Kind: Block, Name: "10.0.0.0/30", Owner: node("n"), Parts: held}
	status := Thing{Kind: Pod, Name: "d/a", Parts: []Thing{{Kind: NetworkStatus, Parts: held[:1]}}}
	for _, c := range []struct {
		a    Act
		want string
	}{
		{Act{}, "[]"},
		{Act{Verb: Read, Thing: block}, "[address 10.0.0.1 address 10.0.0.2 block 10.0.0.0/30 node n pod d/b]"},
		{Act{Verb: Hear, Thing: block}, "[block 10.0.0.0/30 node n]"},
		{Act{Verb: List, Thing: Thing{Kind: Block, Parts: []Thing{block}}}, "[block 10.0.0.0/30 node n]"},
		{Act{Verb: List, Thing: Thing{Kind: Pod, Parts: []Thing{status}}}, "[pod d/a]"},
		{Act{Verb: Read, Thing: status}, "[address 10.0.0.2 pod d/a pod d/b]"},
		{Act{Verb: Update, Thing: Thing{Kind: Pool, Name: "p"}, Gives: held[:1], Takes: held[1:2]}, "[address 10.0.0.1 address 10.0.0.2 node n pod d/b pool p]"},
		{Act{Verb: Delete, Thing: Thing{Kind: Affinity, Name: "10.0.0.0/30", Owner: node("n")}}, "[block 10.0.0.0/30 node n]"},
		{Act{Verb: "watch", Thing: Thing{Kind: "leases", Name: "x"}}, "[]"},
	} {
		if got := fmt.Sprint(c.a.Refs()); got != c.want {
			t.Errorf("%+v\n got %s\nwant %s", c.a, got, c.want)
		}
	}
}

// An address is released by a write that takes it or drops its reservation, and not by
// one that gives it, or takes another.
func TestReleases(t *testing.T) {
	one, other := Thing{Kind: Address, Name: "10.0.0.1"}, Thing{Kind: Address, Name: "10.0.0.10"}
	kept := Thing{Kind: Reservation, Name: "net-10.0.0.1", Parts: []Thing{one}}
	for _, c := range []struct {
		a    Act
		want bool
	}{
		{Act{Verb: Update, Takes: []Thing{other, one}}, true},
		{Act{Verb: Update, Takes: []Thing{other}, Gives: []Thing{one}}, false},
		{Act{Verb: Update, Passes: []Thing{one}}, false},
		{Act{Verb: Delete, Thing: kept}, true},
		{Act{Verb: Create, Thing: kept}, false},
		{Act{Verb: Read, Thing: kept}, false},
	} {
		if got := c.a.Releases(model.Ref{Kind: model.RefAddress, Name: "10.0.0.1"}); got != c.want {
			t.Errorf("%+v: %t", c.a, got)
		}
	}
}
