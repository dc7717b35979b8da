package coverage_test

import (
	"hash/fnv"
	"strings"
	"testing"

	"ipamsim/fuzz/coverage"
	"ipamsim/sim"
)

func step(actor, key string, kind sim.OpKind) *sim.Step {
	verb, path, _ := strings.Cut(key, " ")
	resource, _, _ := strings.Cut(path, "/")
	r := &sim.Request{Verb: verb, Resource: resource, Path: path}
	return &sim.Step{Decision: sim.Decision{Choice: sim.Choice{Op: sim.Op{Actor: sim.ActorID(actor), Request: r, Kind: kind}}}}
}

// Which operations meet.
func TestPairs(t *testing.T) {
	read := step("cni-add/default/web-0/net1", "GET ippools/kube-system/p", sim.Read)
	write := step("ip-reconciler", "PATCH ippools/kube-system/p", sim.Write)
	again := step("ip-reconciler~2", "PATCH ippools/kube-system/p", sim.Write)
	tests := []struct {
		name  string
		steps []*sim.Step
		want  int
	}{
		{"a read before a write", []*sim.Step{read, write}, 1},
		{"and after it: another pair", []*sim.Step{read, write, read}, 2},
		{"two reads", []*sim.Step{read, step("cni-add/default/web-1/net1", "GET ippools/kube-system/p", sim.Read)}, 0},
		{"one process with itself", []*sim.Step{write, write}, 0},
		{"other names, the same pair", []*sim.Step{read, write, step("cni-add/default/web-7/net1~2", "GET ippools/kube-system/p", sim.Read), again}, 2},
		{"another object", []*sim.Step{step("cni-add/default/web-0/net1", "GET leases/kube-system/p", sim.Read), write}, 0},
		{"a list meets its members", []*sim.Step{step("cni-add/default/web-0/net1", "LIST ippools/kube-system", sim.Read), write}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := len(coverage.Pairs(&sim.Trace{Steps: tt.steps})); got != tt.want {
				t.Errorf("%d pairs, want %d", got, tt.want)
			}
		})
	}
}

// A pair has the same hash in every version: a resumed campaign counts it once.
func TestPairIsAHashOfTwoTexts(t *testing.T) {
	got := coverage.Pairs(&sim.Trace{Steps: []*sim.Step{
		step("cni-add/default/web-0/net1", "GET ippools/kube-system/p", sim.Read),
		step("ip-reconciler", "PATCH ippools/kube-system/p", sim.Write),
	}})
	h := fnv.New64a()
	_, _ = h.Write([]byte("cni-add GET ippools proceed\nip-reconciler PATCH ippools proceed\n"))
	if len(got) != 1 || got[0] != h.Sum64() {
		t.Errorf("got %x, want [%x]", got, h.Sum64())
	}
}

func TestMerge(t *testing.T) {
	set, fresh := coverage.Merge([]uint64{1, 5}, []uint64{5, 3, 3})
	if fresh != 1 || len(set) != 3 || set[1] != 3 {
		t.Errorf("got %v with %d new, want [1 3 5] with 1", set, fresh)
	}
}
