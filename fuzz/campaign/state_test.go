package campaign

import (
	"fmt"
	"testing"
	"time"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/known"
)

// at returns a time in a test's log.
func at(seconds int) time.Time { return time.Unix(int64(seconds), 0) }

func epoch(n int) queue.Event { return queue.Event{Epoch: &n} }

func explored(epoch int, from, runs, done uint64) queue.Event {
	return queue.Event{Result: &queue.Result{
		Shard: queue.Shard{Epoch: epoch, Kind: queue.Explore, From: from, Runs: runs}, Done: done, Steps: int(done),
		Classes: map[string]*queue.Class{"sig": {Invariant: "convergence", Count: done, Instances: []queue.Instance{{Seed: from, Steps: 100 - int(from)}}}},
	}}
}

// TestEveryShardCountsOnce: repeated and late results in the log do not count.
func TestEveryShardCountsOnce(t *testing.T) {
	s := newState()
	steps := []struct {
		what   string
		e      queue.Event
		counts bool
		runs   uint64
	}{
		{"a coordinator begins", epoch(1), true, 0},
		{"a shard is done", explored(1, 1, 10, 10), true, 10},
		{"and done again by a worker that was thought dead", explored(1, 1, 10, 10), false, 10},
		{"another is done", explored(1, 11, 10, 10), true, 20},
		{"the coordinator is killed, the next one begins", epoch(2), true, 20},
		{"the old one's shard comes late: its seeds were planned anew", explored(1, 21, 10, 10), false, 20},
		{"they come from where they were planned", explored(2, 21, 5, 5), true, 25},
		{"a shard of the same first seed is another one in another epoch", explored(2, 26, 5, 2), true, 27},
	}
	for i, x := range steps {
		if counts := s.apply(x.e, at(i)); counts != x.counts || s.runs != x.runs {
			t.Fatalf("%s: counts %t, %d runs; want %t, %d", x.what, counts, s.runs, x.counts, x.runs)
		}
	}
	if got, want := fmt.Sprint(*s.sources[0]), "[{1 28}]"; got != want {
		t.Errorf("seeds done: %s, want %s", got, want)
	}
	if c := s.classes["sig"]; c.Count != 27 || len(c.Instances) > queue.InstancesMax || c.Instances[0].Seed != 26 {
		t.Errorf("%+v, want 27 failures, the shortest of seed 26", c)
	}
}

// TestTime: the time of earlier coordinators counts, the time between them does not; a campaign that had
// ended begins with its full time.
func TestTime(t *testing.T) {
	s := newState()
	s.apply(epoch(1), at(100))
	s.apply(explored(1, 1, 1, 1), at(110)) // killed later
	s.apply(epoch(2), at(500))
	if got := s.elapsed(at(503)); got != 13*time.Second {
		t.Errorf("%v, want 13s", got)
	}
	s.apply(queue.Event{End: "time is up"}, at(520))
	s.apply(epoch(3), at(900))
	if got := s.elapsed(at(901)); got != time.Second {
		t.Errorf("%v after the end, want 1s", got)
	}
}

// TestRoughFindingIsReplaced by the shrunk one of the same failure.
func TestRoughFindingIsReplaced(t *testing.T) {
	s := newState()
	s.classes["one"], s.classes["two"] = &queue.Class{Instances: make([]queue.Instance, 1)}, &queue.Class{Instances: make([]queue.Instance, 1)}
	s.find(queue.Kept{Signature: "one", Finding: &finding.Finding{Fingerprint: "rough"}, Rough: true})
	s.find(queue.Kept{Signature: "two", Finding: &finding.Finding{Fingerprint: "rough"}, Rough: true})
	if got := len(s.open()); got != 2 {
		t.Errorf("%d are to be made small, want 2", got)
	}
	s.find(queue.Kept{Signature: "one", Finding: &finding.Finding{Fingerprint: "small"}})
	if s.findings["rough"] == nil || s.dropped["rough"] {
		t.Error("the rough one is still all there is of the other failure")
	}
	s.find(queue.Kept{Signature: "two", Finding: &finding.Finding{Fingerprint: "small"}})
	if s.findings["rough"] != nil || !s.dropped["rough"] || len(s.open()) != 0 {
		t.Error("the rough one should be gone")
	}
}

// TestShortestFindingIsKept: for each fingerprint, in any order. All signatures refer to it.
func TestShortestFindingIsKept(t *testing.T) {
	long, short := &finding.Finding{Fingerprint: "f", Pods: 3}, &finding.Finding{Fingerprint: "f", Pods: 2}
	for _, order := range [][]*finding.Finding{{long, short}, {short, long}} {
		s := newState()
		s.find(queue.Kept{Signature: "one", Finding: order[0]})
		s.find(queue.Kept{Signature: "two", Finding: order[1]})
		if f := s.findings["f"]; f.Pods != 2 || len(f.signatures) != 2 || len(s.findings) != 1 {
			t.Errorf("%+v", f)
		}
	}
}

// A finding is new if any of the causes with its name is new, whichever finding is kept.
func TestNewIfAnyCauseIsNew(t *testing.T) {
	of := func(process string, pods int) *finding.Finding {
		f := &finding.Finding{Fingerprint: "f", Pods: pods, Cause: cause.Cause{Invariant: "handle-count"}}
		f.Cause.Links = []cause.Link{{Role: cause.Wrote, Process: process, Resource: "ipamhandles"}}
		return f
	}
	listed, unlisted := of("cni-add", 2), of("tunnel-addresses", 3)
	c := &coordinator{}
	c.Listed = true
	c.Known.Learn(&listed.Cause, known.Seen+"an example")
	for _, tt := range []struct {
		found []*finding.Finding
		want  string
	}{
		{[]*finding.Finding{listed}, known.Seen + "an example"},
		{[]*finding.Finding{unlisted}, News},
		{[]*finding.Finding{listed, unlisted}, News},
		{[]*finding.Finding{unlisted, listed}, News},
	} {
		s := newState()
		for i, f := range tt.found {
			s.find(queue.Kept{Signature: string(rune('a' + i)), Finding: f})
		}
		if got := c.known(s.findings["f"]); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
