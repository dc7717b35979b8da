package ipam_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/sim"
	"ipamsim/sim/disk"
	"ipamsim/sim/ipam/hostlocal"
	"ipamsim/sim/strategy"
)

// node is a machine on which a container runtime executes host-local.
type node struct {
	name, subnet string
	disk         *disk.Disk
}

func (n *node) config() []byte {
	return []byte(`{"cniVersion":"1.0.0","name":"pods","type":"bridge","ipam":{"type":"host-local","ranges":[[{"subnet":"` + n.subnet + `"}]]}}`)
}

// claims are the files of addresses, as the harness reads them: past the gate.
func (n *node) claims(t *testing.T) []model.Claim {
	t.Helper()
	out, err := hostlocal.Claims(n.disk, hostlocal.DataDir("pods"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range out {
		out[i].Pool, out[i].Network, out[i].Node = n.subnet, "pods", n.name
	}
	return out
}

// exec executes the plugin in its own process and waits for its end. It returns the addresses that
// the plugin printed.
func (n *node) exec(ctx context.Context, w *sim.World, command, container string) (addrs []netip.Addr, err error) {
	a := w.Spawn(sim.Process{ID: sim.ActorID(strings.ToLower(command) + "/" + n.name + "/" + container), Group: n.name, Mortal: command == "ADD", Run: func(ctx context.Context, g *sim.Gate) error {
		out, err := hostlocal.Exec(ctx, g, n.disk, hostlocal.Call{Command: command, Container: container, Interface: "eth0", Config: n.config()})
		var result struct {
			IPs []struct{ Address netip.Prefix }
		}
		if err == nil && command == "ADD" {
			err = json.Unmarshal(out, &result)
		}
		for _, ip := range result.IPs {
			addrs = append(addrs, ip.Address.Addr())
		}
		return err
	}})
	select {
	case <-a.Done():
		return addrs, a.Err()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// outcome is the final state of a story.
type outcome struct {
	sandboxes []model.Sandbox
	claims    []model.Claim
	errs      []string // of ADDs
	trace     *sim.Trace
}

// story runs two nodes with a container runtime each. Each runtime creates three containers
// concurrently and undoes those whose ADD failed, as containerd does. Then, if power is set, the
// first node loses its power and creates two more.
func story(t *testing.T, st sim.Strategy, faults sim.Budget, power *disk.Loss) *outcome {
	t.Helper()
	o := &outcome{}
	var mu sync.Mutex
	nodes := []*node{{name: "node-a", subnet: "10.1.0.0/29"}, {name: "node-b", subnet: "10.1.1.0/29"}}
	tr, err := sim.Run(t.Context(), sim.Options{Strategy: st, Faults: faults}, func(w *sim.World) error {
		w.Spawn(sim.Process{ID: "runtimes", Run: func(ctx context.Context, _ *sim.Gate) error {
			defer w.Finish()
			var all sync.WaitGroup
			begin := func(n *node, ids ...string) {
				for _, id := range ids {
					all.Go(func() {
						addrs, err := n.exec(ctx, w, "ADD", id)
						if err != nil {
							_, undo := n.exec(ctx, w, "DEL", id)
							err = errors.Join(err, undo)
						}
						mu.Lock()
						defer mu.Unlock()
						if err != nil {
							o.errs = append(o.errs, err.Error())
							return
						}
						o.sandboxes = append(o.sandboxes, model.Sandbox{ID: id, Pod: model.PodRef{Namespace: "default", Name: id}, Node: n.name, Attachments: []model.Attachment{{Network: "default/pods", Interface: "eth0", Addrs: addrs, Since: w.Now()}}})
					})
				}
			}
			for _, n := range nodes {
				n.disk = disk.New(w, n.name)
				begin(n, n.name+"-1", n.name+"-2", n.name+"-3")
			}
			all.Wait()
			if power != nil {
				a := nodes[0]
				dead := slices.Clone(o.sandboxes)
				w.KillGroup(a.name)
				a.disk.PowerLoss(*power)
				o.sandboxes = slices.DeleteFunc(o.sandboxes, func(s model.Sandbox) bool { return s.Node == a.name })
				for _, s := range dead {
					if s.Node == a.name { // after the reboot the runtime undoes the sandboxes that it remembers
						if _, err := a.exec(ctx, w, "DEL", s.ID); err != nil {
							t.Error(err)
						}
					}
				}
				begin(a, a.name+"-4", a.name+"-5", a.name+"-6", a.name+"-7", a.name+"-8")
				all.Wait()
			}
			for _, n := range nodes {
				o.claims = append(o.claims, n.claims(t)...)
			}
			return nil
		}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(o.sandboxes, func(a, b model.Sandbox) int { return cmp.Compare(a.ID, b.ID) })
	o.trace = tr
	return o
}

// violations are those of the invariants that hold at every instant.
func (o *outcome) violations() (out []string) {
	view := invariant.View{Truth: model.Truth{At: time.Hour, Sandboxes: o.sandboxes}, Record: model.Snapshot{Claims: o.claims}}
	n := model.Network{Key: "default/pods", Name: "pods"}
	for _, prefix := range []string{"10.1.0.0/29", "10.1.1.0/29"} {
		p := netip.MustParsePrefix(prefix)
		n.Ranges = append(n.Ranges, model.Range{Prefix: p, Start: p.Addr().Next(), End: p.Addr().Next().Next().Next().Next().Next().Next()})
		view.Record.Pools = append(view.Record.Pools, model.Pool{Name: prefix, Network: "pods", Range: p})
	}
	view.Networks = []model.Network{n}
	view = view.Indexed()
	for _, i := range []*invariant.Invariant{&invariant.DuplicateAddress, &invariant.UnbackedSandbox, &invariant.DoubleClaim} {
		for _, v := range i.Check(view) {
			out = append(out, i.Say(&v))
		}
	}
	return out
}

// Without faults each container gets an address of its node, and nothing else is left.
func TestPlain(t *testing.T) {
	for seed := range uint64(10) {
		o := story(t, strategy.NewRandom(seed, strategy.Settings{}), sim.Budget{}, nil)
		if len(o.errs) > 0 || len(o.sandboxes) != 6 || len(o.claims) != 6 || len(o.violations()) > 0 {
			t.Fatalf("seed %d: %q, %d sandboxes, %v, %q", seed, o.errs, len(o.sandboxes), o.claims, o.violations())
		}
	}
}

// The same seed is the same run.
func TestRepeats(t *testing.T) {
	run := func() uint64 {
		return story(t, strategy.NewRandom(3, strategy.Settings{}), sim.Budget{}, nil).trace.Digest()
	}
	if a, b := run(), run(); a != b {
		t.Errorf("%x and %x", a, b)
	}
}

// A plugin that is killed releases its lock, and all others end. A plugin that is killed between
// the creation of its file and the write leaves an empty file, which names no container and which
// no DEL removes. No address is held twice.
func TestKilled(t *testing.T) {
	killed, locked, empty := 0, 0, 0
	for seed := range uint64(150) {
		st := strategy.NewTimed(seed, strategy.Settings{Faults: strategy.FaultRates{sim.Crash: 0.05}})
		o := story(t, st, sim.Budget{Allowed: sim.Of(sim.Crash), Max: 1}, nil)
		if v := o.violations(); len(v) > 0 {
			t.Fatalf("seed %d: %q", seed, v)
		}
		for _, s := range o.trace.Steps {
			if s.Choice.Outcome == sim.Crash {
				killed++
				if v := s.Choice.Op.Request.Verb; v == "CREATE" || v == "WRITE" || v == "UNLOCK" || v == "READDIR" {
					locked++
				}
			}
		}
		for _, c := range o.claims {
			if c.Container == "" {
				empty++
			}
		}
		if len(o.sandboxes)+len(o.errs) != 6 {
			t.Fatalf("seed %d: %d sandboxes, %q", seed, len(o.sandboxes), o.errs)
		}
	}
	if killed < 50 || locked < 10 || empty < 1 {
		t.Errorf("%d killed, %d of them with the lock, %d empty files: the schedule did not get there", killed, locked, empty)
	}
	t.Logf("%d killed, %d of them with the lock, %d empty files left", killed, locked, empty)
}

// A loss of power after the names are on disk and before the data: the files of all three addresses
// are empty. The following DELs succeed and remove none of them, and a node of five addresses has
// room for two containers.
func TestPowerLoss(t *testing.T) {
	kept := story(t, strategy.NewSerial(), sim.Budget{}, &disk.Loss{})
	lost := story(t, strategy.NewSerial(), sim.Budget{}, &disk.Loss{Data: disk.AllData})
	never := story(t, strategy.NewSerial(), sim.Budget{}, &disk.Loss{Journal: 100})
	for _, c := range []struct {
		name     string
		o        *outcome
		ok, fail int
		empty    int
	}{{"nothing is lost", kept, 5, 0, 0}, {"data is lost", lost, 2, 3, 3}, {"all is lost", never, 5, 0, 0}} {
		ok, empty := 0, 0
		for _, s := range c.o.sandboxes {
			if s.Node == "node-a" {
				ok++
			}
		}
		for _, claim := range c.o.claims {
			if claim.Container == "" {
				empty++
			}
		}
		if ok != c.ok || len(c.o.errs) != c.fail || empty != c.empty || len(c.o.violations()) > 0 {
			t.Errorf("%s: %d containers, want %d; %d empty files, want %d; %q; %q", c.name, ok, c.ok, empty, c.empty, c.o.errs, c.o.violations())
		}
	}
	if len(lost.errs) > 0 && !strings.Contains(lost.errs[0], "no IP addresses available in range set: 10.1.0.1-10.1.0.6") {
		t.Errorf("%q", lost.errs)
	}
}

// On a full disk the plugin reports an error and removes the file that it had created.
func TestFull(t *testing.T) {
	d := disk.New(nil, "node-a")
	n := &node{name: "node-a", subnet: "10.1.0.0/29", disk: d}
	call := hostlocal.Call{Command: "ADD", Container: "c", Interface: "eth0", Config: n.config()}
	end := d.Fail(disk.Full)
	if _, err := hostlocal.Exec(t.Context(), nil, d, call); err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("%v", err)
	}
	if left := n.claims(t); len(left) > 0 {
		t.Errorf("%v", left)
	}
	end()
	if out, err := hostlocal.Exec(t.Context(), nil, d, call); err != nil || !strings.Contains(string(out), "10.1.0.2/29") {
		t.Errorf("%s, %v", out, err)
	}
}
