package whereabouts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"ipamsim/reports/prose"
	"ipamsim/sim"
	"ipamsim/sim/kube"
	"ipamsim/sim/strategy"
)

// TestConformanceReconciler runs one pass of the real ip-reconciler and one of ours
// with the rule of 0.9.4 over the same cluster: pools, reservations and pods as
// they might lie about after any history. Both must ask the API server the same,
// remove the same, and fail alike.
func TestConformanceReconciler(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawLitter(rt)
		want, got := c.reconciled(t, "ip-reconciler"), c.reconciled(t, "reference-address-in-status")
		if want != got {
			rt.Fatalf("%s\nthe real one:\n%s\nours:\n%s", c, want, got)
		}
	})
}

// litter is a cluster that a reconciler finds.
type litter struct {
	pools        []litteredPool
	reservations []string // "name pod"
	pods         []litteredPod
	late         *litteredPod // what becomes of a Pending pod while the pass waits for it
	after        time.Duration
}

type litteredPool struct {
	name, cidr  string
	allocations map[string]string // offset → podref
}

type litteredPod struct {
	name, phase string
	ips         []string
	marked      bool
	broken      bool // its network-status is no JSON
	primary     bool // its addresses are listed as the pod network's
	gone        bool
}

// drawLitter changes something during the pass only if no pool holds more than one
// claim of a Pending pod: in which order the real one looks at several is up to a
// map.
func drawLitter(t *rapid.T) *litter {
	c := &litter{}
	names := []string{"web-0", "web-1", "web-2"}
	refs := append([]string{"", "default/gone", "odd"}, "default/web-0", "default/web-1", "default/web-2")
	held := map[string][]string{}
	for _, p := range []litteredPool{{name: "10.0.0.0-28", cidr: "10.0.0.0/28"}, {name: "blue-10.0.1.8-29", cidr: "10.0.1.8/29"}, {name: "fd00---112", cidr: "fd00::/112"}} {
		if rapid.IntRange(0, 3).Draw(t, "without "+p.name) == 0 {
			continue
		}
		p.allocations = rapid.MapOfN(rapid.SampledFrom([]string{"0", "1", "2", "3", "6", "10", "x"}), rapid.SampledFrom(refs), 0, 4).Draw(t, p.name)
		c.pools = append(c.pools, p)
		for offset, ref := range p.allocations {
			held[ref] = append(held[ref], map[string]map[string]string{
				"10.0.0.0-28":      {"0": "10.0.0.0", "1": "10.0.0.1", "2": "10.0.0.2", "3": "10.0.0.3", "6": "10.0.0.6", "10": "10.0.0.10"},
				"blue-10.0.1.8-29": {"0": "10.0.1.8", "1": "10.0.1.9", "2": "10.0.1.10", "3": "10.0.1.11", "6": "10.0.1.14", "10": "10.0.1.18"},
				"fd00---112":       {"0": "fd00::", "1": "fd00::1", "2": "fd00::2", "3": "fd00::3", "6": "fd00::6", "10": "fd00::a"},
			}[p.name][offset])
		}
	}
	for _, n := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "blue-10.0.1.9", "10.0.1.10", "fd00--0", "fd00--1", "fd00--a"}), rapid.ID).Draw(t, "reservations") {
		c.reservations = append(c.reservations, n+" "+rapid.SampledFrom(refs).Draw(t, "pod of "+n))
	}
	for _, n := range names {
		if rapid.IntRange(0, 4).Draw(t, "without "+n) == 0 {
			continue
		}
		c.pods = append(c.pods, drawLitteredPod(t, n, held["default/"+n]))
	}
	waits := map[string]int{} // by pool
	for _, pod := range c.pods {
		for _, p := range c.pools {
			for _, ref := range p.allocations {
				if pod.phase == "Pending" && ref == "default/"+pod.name {
					waits[p.name]++
				}
			}
		}
	}
	for _, n := range waits {
		if n > 1 {
			return c
		}
	}
	for _, pod := range c.pods {
		if pod.phase == "Pending" && c.late == nil && rapid.Bool().Draw(t, pod.name+" changes") {
			late := drawLitteredPod(t, pod.name, held["default/"+pod.name])
			late.gone = rapid.IntRange(0, 4).Draw(t, pod.name+" goes") == 1
			c.late, c.after = &late, time.Duration(rapid.SampledFrom([]int{100, 300, 600, 900}).Draw(t, "after ms"))*time.Millisecond
		}
	}
	return c
}

func drawLitteredPod(t *rapid.T, name string, held []string) litteredPod {
	slices.Sort(held)
	p := litteredPod{name: name, phase: rapid.SampledFrom([]string{"Pending", "Running", "Failed"}).Draw(t, "phase of "+name)}
	for _, ip := range append(slices.Compact(held), "fd00::0", "10.0.0.9") {
		if ip != "" && rapid.Bool().Draw(t, ip+" on "+name) {
			p.ips = append(p.ips, ip)
		}
	}
	switch rapid.IntRange(0, 9).Draw(t, "flaw of "+name) {
	case 1:
		p.marked = true
	case 2:
		p.broken = true
	case 3:
		p.primary = true
	}
	return p
}

func (p litteredPod) status() string {
	if p.broken {
		return "[{"
	}
	b, _ := json.Marshal([]map[string]any{{"name": "net", "interface": "net1", "ips": p.ips, "default": p.primary}})
	return string(b)
}

// String is the cluster as a list, for reports of failures.
func (c *litter) String() string {
	var b strings.Builder
	for _, p := range c.pools {
		fmt.Fprintf(&b, "pool %s %v\n", p.name, p.allocations)
	}
	for _, r := range c.reservations {
		fmt.Fprintf(&b, "reservation %s\n", r)
	}
	for _, p := range c.pods {
		fmt.Fprintf(&b, "pod %+v\n", p)
	}
	if c.late != nil {
		fmt.Fprintf(&b, "after %v pod %+v\n", c.after, *c.late)
	}
	return b.String()
}

// reconciled is what a pass asked for and how it ended, in the words of the record.
// Requests are sorted, because a map decides their order in the real one.
func (c *litter) reconciled(t *testing.T, reconciler string) string {
	var out []string
	simulateOn(t, server(t).BeginMemory(), strategy.NewSerial(), sim.Options{}, map[string]string{"net": plain}, func(ctx context.Context, w *world) {
		c.lay(w)
		pass := w.background(reconciler, "")
		if c.late != nil {
			time.Sleep(c.after)
			w.become(*c.late)
		}
		wait(pass)
		out = append(out, w.pools()...)
		out = append(out, "reservations "+w.reservations(), fmt.Sprint("failed ", pass.Err() != nil))
		for _, s := range w.Trace().Steps {
			if x, ok := s.Detail.(kube.Exchange); ok && s.Choice.Op.Actor.Kind() == reconciler {
				out = append(out, s.Choice.Op.Key+" "+s.Note+" "+prose.Act(new(w.inst.Act(x))))
			}
		}
	})
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// lay makes the cluster.
func (c *litter) lay(w *world) {
	for _, p := range c.pools {
		allocations := map[string]any{}
		for offset, ref := range p.allocations {
			allocations[offset] = map[string]any{"id": "c" + offset, "podref": ref, "ifname": "net1"}
		}
		w.create(poolsGVR, map[string]any{"metadata": map[string]any{"name": p.name, "namespace": "kube-system"}, "spec": map[string]any{"range": p.cidr, "allocations": allocations}})
	}
	for _, r := range c.reservations {
		name, ref, _ := strings.Cut(r, " ")
		w.create(reservationsGVR, map[string]any{"metadata": map[string]any{"name": name, "namespace": "kube-system"}, "spec": map[string]any{"podref": ref}})
	}
	for _, p := range c.pods {
		w.pod(p.name, "a", "net")
		w.become(p)
	}
}

// become changes a pod.
func (w *world) become(p litteredPod) {
	if p.gone {
		w.deletePod(p.name)
		return
	}
	pods := w.api.Resource(podsGVR).Namespace("default")
	for _, change := range []struct {
		body        any
		subresource []string
	}{
		{map[string]any{"metadata": map[string]any{"annotations": map[string]any{"k8s.v1.cni.cncf.io/network-status": p.status()}}}, nil},
		{map[string]any{"status": map[string]any{"phase": p.phase, "conditions": p.conditions()}}, []string{"status"}},
	} {
		body, _ := json.Marshal(change.body)
		if _, err := pods.Patch(context.Background(), p.name, types.MergePatchType, body, metav1.PatchOptions{}, change.subresource...); err != nil {
			w.t.Error(err)
		}
	}
}

func (p litteredPod) conditions() []any {
	if !p.marked {
		return []any{}
	}
	return []any{map[string]any{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager"}}
}

// pools are all pools as they are stored, one a line.
func (w *world) pools() []string {
	list, err := w.api.Resource(poolsGVR).Namespace("kube-system").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		w.t.Error(err)
		return nil
	}
	var out []string
	for _, o := range list.Items {
		b, _ := json.Marshal(o.Object["spec"])
		out = append(out, o.GetName()+" "+string(b))
	}
	return out
}
