package capacity_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ipamsim/model/capacity"
)

// least is a manager whose allocator implements only the required functions, plus those that a
// trial needs.
type least struct{ capacity.Manager }

func (m least) Open(p *capacity.Player) (*capacity.Allocator, error) {
	a, err := m.Manager.Open(p)
	if err == nil {
		a.Hopeless, a.InUse, a.Count = nil, nil, nil
	}
	return a, err
}

// Numbers that a manager does not count itself are computed from its record.
func TestDefaultsCountTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		seed := rapid.Uint64().Draw(t, "seed")
		want, err := capacity.Play(c, c.Trace(seed))
		if err != nil {
			notModelled(t, err)
			return
		}
		c.Manager = least{c.Manager}
		got, err := capacity.Play(c, c.Trace(seed))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("its own (-) and by default (+):\n%s", d)
		}
	})
}

// An allocator without the required functions is refused before the first event.
func TestAllocatorNeedsAddDelRecord(t *testing.T) {
	c := &capacity.Cluster{Manager: nothing{}}
	if _, err := capacity.NewPlayer(c, c.Trace(1)); err == nil {
		t.Error("no error")
	}
}

type nothing struct{}

func (nothing) Open(*capacity.Player) (*capacity.Allocator, error) { return &capacity.Allocator{}, nil }
