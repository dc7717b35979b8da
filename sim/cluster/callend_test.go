package cluster_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// ends are the ends of calls of a run.
func ends(c *cluster.Cluster, kind model.EventKind) (out []model.Event) {
	for _, e := range c.Checker.History().Events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// A DEL that fails without a reason outside of the manager is not disturbed. After it has failed
// for long enough, it is a violation that contains the manager's error.
func TestDelFailsForGood(t *testing.T) {
	o := outage{del: span{time.Minute, 10 * time.Minute}}
	c := run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "StatefulSet", 1, func(cfg *cluster.Config) {
		cfg.Manager = o.of(cfg.Manager)
		cfg.Script = []cluster.Entry{{At: time.Minute, Action: &action.Delete{Resource: "pods", Name: "web-0"}}}
	}, nil, nil)
	for _, e := range ends(c, model.DelEnd) {
		if e.Disturbed || e.At-e.Begun > time.Millisecond {
			t.Errorf("at %s: begun %s, disturbed %v", e.At, e.Begun, e.Disturbed)
		}
	}
	var failed []model.Violation
	for _, v := range c.Checker.Violations() {
		if v.Invariant == "failed-call" {
			failed = append(failed, v)
		}
	}
	if len(failed) != 1 || failed[0].Code != "del" {
		t.Fatalf("%+v", failed)
	}
	said, _ := model.FactOf[string](failed[0].Facts, "error")
	times, _ := model.FactOf[int](failed[0].Facts, "times")
	if said != "nobody answers" || times != 6 { // at 60 s, 70 s, … 110 s
		t.Errorf("%+v", failed)
	}
}

// A machine that is not well for a part of the call, or at its end, disturbs it; one that
// was not well before does not.
func TestDisturbedCalls(t *testing.T) {
	const takes = 20 * time.Second
	for cut, want := range map[time.Duration]bool{5 * time.Second: true, takes + 5*time.Second: false} {
		o := outage{takes: takes}
		c := run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "StatefulSet", 1, func(cfg *cluster.Config) {
			cfg.Manager = o.of(cfg.Manager)
			p := &action.Partition{Node: "a"}
			p.For.Duration = 3 * time.Second
			cfg.Script = []cluster.Entry{{At: cut, Action: p}}
		}, nil, nil)
		if got := ends(c, model.AddEnd); len(got) != 1 || got[0].Err != "" || got[0].Begun >= time.Second || got[0].Disturbed != want {
			t.Errorf("cut off at %s: %+v, want disturbed %v", cut, got, want)
		}
	}
}

// The history has the beginning of each call before its end: what a call may have read
// depends on when it began.
func TestBeginsAreRecorded(t *testing.T) {
	c := run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "StatefulSet", 1, func(cfg *cluster.Config) {
		cfg.Manager = outage{takes: 5 * time.Second}.of(cfg.Manager)
		cfg.Script = []cluster.Entry{{At: time.Minute, Action: &action.Delete{Resource: "pods", Name: "web-0"}}}
	}, nil, nil)
	var got []string
	for _, e := range c.Checker.History().Events {
		if kind := string(e.Kind); strings.HasPrefix(kind, "add-") || strings.HasPrefix(kind, "del-") {
			got = append(got, fmt.Sprintf("%v %s", e.At.Truncate(time.Second), kind))
		}
	}
	want := "0s add-begin, 5s add-end, 1m0s del-begin, 1m0s del-end, 1m0s add-begin, 1m5s add-end"
	if calls := strings.Join(got, ", "); calls != want {
		t.Errorf("%s, want %s", calls, want)
	}
}
