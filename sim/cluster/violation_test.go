package cluster_test

import (
	"testing"
	"time"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// A violation has the step and time at which it was found, and the events up to then. A violation
// that persists is reported once.
func TestViolationSaysWhen(t *testing.T) {
	c := run(t, `{"type":"canary","range":"10.0.0.0/28","bug":"duplicate-address"}`, "StatefulSet", 2, func(*cluster.Config) {}, nil, nil)
	all := c.Checker.Violations()
	if len(all) != 1 {
		t.Fatalf("%d violations, want one address that two pods have: %v", len(all), all)
	}
	if v := all[0]; v.Step == 0 || v.At == 0 || v.To == 0 || v.Message == "" || v.Invariant != "duplicate-address" {
		t.Errorf("%+v", v)
	}
}

// What only holds at rest is judged after a quiet time, and not without.
func TestJudgedAtRest(t *testing.T) {
	for settle, want := range map[time.Duration]int{0: 0, 30 * time.Second: 1} {
		c := run(t, `{"type":"canary","range":"10.0.0.0/28","bug":"unreleased-claim"}`, "StatefulSet", 1, func(cfg *cluster.Config) {
			cfg.Until, cfg.Settle = time.Minute, settle
			cfg.Script = []cluster.Entry{{At: 30 * time.Second, Action: &action.Delete{Resource: "statefulsets", Name: "web"}}, {At: 30 * time.Second, Action: &action.Delete{Resource: "pods", Name: "web-0"}}}
		}, nil, nil)
		n := 0
		for _, v := range c.Checker.Violations() {
			if v.Invariant == "convergence" {
				n++
			}
		}
		if n != want {
			t.Errorf("settle %v: %d violations of convergence, want %d: %v", settle, n, want, c.Checker.Violations())
		}
	}
}

// Two pods take an address each, and keep it.
func TestUsed(t *testing.T) {
	c := run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "StatefulSet", 2, func(*cluster.Config) {}, nil, nil)
	if u := c.Checker.Used(); u.AddressesMost != 2 || u.AddressesKept != 2 || u.Addresses != 2 {
		t.Errorf("%+v, want 2 of each", u)
	}
}
