package checker

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/recorder"
	"ipamsim/sim/ipam"
	"ipamsim/sim/strategy"
)

// inWorld calls f with a checker of a world in which nothing runs.
func inWorld(t *testing.T, f func(*Checker)) {
	t.Helper()
	_, err := sim.Run(context.Background(), sim.Options{Strategy: strategy.NewSerial()}, func(w *sim.World) error {
		c := &Checker{}
		c.truth.init()
		c.w = w
		w.Spawn(sim.Process{ID: "test", Run: func(context.Context, *sim.Gate) error {
			f(c)
			w.Finish()
			return nil
		}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The truth has the addresses of a sandbox at any moment, and reports which address changed.
func TestTruthFollows(t *testing.T) {
	inWorld(t, func(c *Checker) {
		addr := netip.MustParseAddr("10.0.0.1")
		see := func(what string, want ...int) {
			t.Helper()
			var got []int
			for _, sb := range c.snapshotLocked().Sandboxes {
				got = append(got, len(sb.Attachments))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: sandboxes with %v attachments, want %v", what, got, want)
			}
		}
		see("nothing")
		c.SandboxUp(model.Sandbox{ID: "c1", Node: "a"})
		see("it is up", 0)
		c.Attach("c1", model.Attachment{Interface: "net1", Addrs: []netip.Addr{addr}})
		see("with an address", 1)
		c.Attach("c2", model.Attachment{Interface: "net1", Addrs: []netip.Addr{addr}})
		see("another's is not its own", 1)
		if !slices.ContainsFunc(c.Touched(), func(x model.Touch) bool { return x.Ref == model.AddressOf(addr) }) {
			t.Errorf("touched %v, and not %v", c.Touched(), addr)
		}
		c.Detach("c1", "net2")
		see("another interface goes", 1)
		c.Detach("c1", "net1")
		see("its own goes", 0)
		c.SandboxGone("c1")
		see("it is gone")
	})
}

// Every difference between two states of a pod counts as a change.
func TestSamePod(t *testing.T) {
	pod := func(change func(*model.Pod)) *model.Pod {
		p := &model.Pod{UID: "u", Node: "a", Phase: "Pending", Networks: []string{"net"}}
		change(p)
		return p
	}
	same := pod(func(*model.Pod) {})
	for name, x := range map[string]struct {
		change func(*model.Pod)
		want   bool
	}{
		"nothing":  {func(*model.Pod) {}, true},
		"since":    {func(p *model.Pod) { p.Since = 1 }, true},
		"uid":      {func(p *model.Pod) { p.UID = "v" }, false},
		"node":     {func(p *model.Pod) { p.Node = "b" }, false},
		"phase":    {func(p *model.Pod) { p.Phase = "Running" }, false},
		"deleting": {func(p *model.Pod) { p.Deleting = true }, false},
		"networks": {func(p *model.Pod) { p.Networks = nil }, false},
	} {
		if got := samePod(same, pod(x.change)); got != x.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The end of a call that something else met than the manager's own doing is disturbed.
func TestEndIsDisturbed(t *testing.T) {
	call := ipam.Call{Container: "c1", Node: "a"}
	for _, x := range []struct {
		name   string
		change func(*Checker)
		err    error
		want   bool
	}{
		{"all is well", func(*Checker) {}, nil, false},
		{"it fails by itself", func(*Checker) {}, context.DeadlineExceeded, false},
		{"its plugin is killed", func(*Checker) {}, sim.ErrKilled, true},
		{"nobody asked the plugin", func(*Checker) {}, &ipam.Unasked{Err: errors.New("no plugin")}, true},
		{"something met it before", func(c *Checker) { c.calls["c1"].disturbed = true }, nil, true},
		{"its machine has no power", func(c *Checker) { c.machines["a"].Up = false }, nil, true},
		{"nobody knows the call", func(c *Checker) { delete(c.calls, "c1") }, nil, true},
	} {
		inWorld(t, func(c *Checker) {
			c.machines["a"] = &recorder.Machine{Node: model.Node{Registered: true, Up: true}}
			c.calls["c1"] = &Call{Call: call}
			x.change(c)
			if got := c.End(model.AddEnd, &sim.Actor{}, call, x.err); got.Disturbed != x.want {
				t.Errorf("%s: disturbed %v", x.name, got.Disturbed)
			}
			if len(c.calls) > 0 {
				t.Errorf("%s: it is under way still", x.name)
			}
		})
	}
}
