package calico

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/disk"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/strategy"
)

// ipamLock is the file that the plugins of a host lock, and ipamTimeout the time limit
// of what allocates or releases.
//
// Source: cni-plugin/pkg/ipamplugin, ipam_lock_linux.go, and ipam_plugin.go, cmdDel.
const (
	ipamLock    = "/var/run/calico/ipam.lock"
	ipamTimeout = 90 * time.Second
)

// start begins an ADD for a pod that is stored already and does not wait for it.
func (w *allocWorld) start(node, pod string) *sim.Actor {
	return w.process("add", node, pod, func(ctx context.Context, g *sim.Gate) error {
		_, err := w.in.Add(ctx, g, w.cniCall(node, pod))
		return err
	})
}

// together starts ADDs for n pods of a node at the same time.
func (w *allocWorld) together(node string, n int) (all []*sim.Actor) {
	w.t.Helper()
	for i := range n {
		w.pod(ref(fmt.Sprintf("%s-%d", node, i)), nil)
	}
	for i := range n {
		all = append(all, w.start(node, fmt.Sprintf("%s-%d", node, i)))
	}
	return all
}

// turns are the processes that used the allocator's part of the datastore, in the order of the
// steps, each turn once. This part includes pools, reservations and nodes.
func turns(tr *sim.Trace) (out []sim.ActorID) {
	for _, s := range tr.Steps {
		op := s.Choice.Op
		ours := strings.Contains(op.Key, "/ipam/") || strings.Contains(op.Key, "ipreservations")
		if ours && (len(out) == 0 || out[len(out)-1] != op.Actor) {
			out = append(out, op.Actor)
		}
	}
	return out
}

// Plugins of one host allocate one after another, whatever the schedule: each has one turn. Plugins
// of different hosts do not wait for each other.
func TestOneAllocationAtATimeOnAHost(t *testing.T) {
	server := startEtcd(t)
	for seed := range uint64(5) {
		run := allocRun{strategy: strategy.NewRandom(seed, strategy.Settings{}), options: sim.Options{Seed: seed}}
		one, _ := story(t, server, run, func(w *allocWorld) {
			w.nodes("a")
			w.pool("p", "10.64.75.0/24")
			for _, p := range w.together("a", 6) {
				<-p.Done()
				w.must(p.Err())
			}
		})
		if got := turns(one); len(got) != 6 {
			t.Errorf("seed %d: on one host they take turns as %v", seed, got)
		}
		run.strategy = strategy.NewRandom(seed, strategy.Settings{})
		two, _ := story(t, server, run, func(w *allocWorld) {
			w.nodes("a", "b")
			w.pool("p", "10.64.75.0/24")
			for _, p := range slices.Concat(w.together("a", 2), w.together("b", 2)) {
				<-p.Done()
				w.must(p.Err())
			}
		})
		if got := turns(two); len(got) == 4 {
			t.Errorf("seed %d: two hosts waited for each other: %v", seed, got)
		}
	}
}

// lockFile takes the lock of node a's plugins as they do; closing the file gives it up.
func lockFile(ctx context.Context, w *allocWorld) (*disk.File, error) {
	file, err := w.in.host("a", nil).Disk.Process(ctx, nil).OpenFile(ipamLock, os.O_CREATE|os.O_RDONLY, 0o600)
	if err == nil {
		err = file.Lock()
	}
	return file, err
}

// A plugin that is killed releases the lock immediately, like a file lock: the next one allocates,
// although the first never finished.
func TestLockOfADeadPlugin(t *testing.T) {
	story(t, startEtcd(t), allocRun{strategy: strategy.NewSerial()}, func(w *allocWorld) {
		w.nodes("a")
		w.pool("p", "10.64.75.0/24")
		w.fill("a", 1)
		w.pod(ref("first"), nil)
		w.pod(ref("second"), nil)
		first := w.process("add", "a", "first", func(ctx context.Context, g *sim.Gate) error {
			held, err := lockFile(ctx, w)
			if err != nil {
				return err
			}
			defer held.Close()
			time.Sleep(5 * time.Minute) // an upstream back-off that does not look at any context
			return nil
		})
		second := w.start("a", "second")
		time.Sleep(time.Minute)
		if !w.Alive(second.ID) {
			t.Fatalf("the second plugin did not wait: %v", second.Err())
		}
		w.Kill(first.ID)
		before := w.Now()
		<-second.Done()
		w.must(second.Err())
		if took := w.Now() - before; took > time.Second {
			t.Errorf("the lock of a dead process was held for %s", took)
		}
	})
}

// calico-node allocates its tunnel address while a plugin of its host holds the lock. The time
// limit of a DEL includes its wait for the lock; that of an ADD does not.
func TestWhoWaitsForTheLock(t *testing.T) {
	story(t, startEtcd(t), allocRun{strategy: strategy.NewSerial()}, func(w *allocWorld) {
		w.nodes("a")
		w.pool("p", "10.64.75.0/24", ipip)
		w.fill("a", 1)
		w.pod(ref("late"), nil)
		holder := w.process("add", "a", "holder", func(ctx context.Context, _ *sim.Gate) error {
			_, err := lockFile(ctx, w)
			<-ctx.Done()
			return err
		})
		node := w.calicoNode("a")
		time.Sleep(time.Second)
		if got := w.tunnels(); got != "ipip-tunnel-addr-a 10.64.75.193" {
			t.Errorf("while the lock is held the node's tunnel got %q", got)
		}
		w.Kill(node.ID)
		add := w.start("a", "late")
		del := w.process("del", "a", "a-0", func(ctx context.Context, g *sim.Gate) error {
			return w.in.Del(ctx, g, w.cniCall("a", "a-0"))
		})
		time.Sleep(ipamTimeout + time.Second)
		w.Kill(holder.ID)
		<-add.Done()
		w.must(add.Err())
		<-del.Done()
		if err := del.Err(); err == nil || !strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
			t.Errorf("a DEL that waited %s for the lock: %v", ipamTimeout+time.Second, err)
		}
		ips, err := w.direct.IPAM().IPsByHandle(w.ctx, record.NetworkKey+".sandbox-a-0")
		if err != nil || len(ips) != 1 {
			t.Errorf("after the DEL that was too late: %v, %v", ips, err)
		}
	})
}
