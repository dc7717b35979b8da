package space_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/space"
	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/checker"
	"ipamsim/sim/cluster/clustertest"
	"ipamsim/sim/ipam"
	"ipamsim/sim/longtest"
)

var (
	roundtrips = flag.Int("roundtrips", 30, "how many random clusters are dumped and imported")
	departures = flag.Int("departures", 30, "how many of them are emptied")
	roundtrip  = flag.Uint64("roundtrip", 0, "only the world of this seed, and all of what came of it")
)

// imports returns the spaces whose managers, or their members, serve pods and can be imported from
// API objects. The record of host-local (Last) is files of nodes.
func imports() (out []string) {
	reads := func(m *ipam.Manager) bool { i, ok := ipam.Part[*dump.Importer](m); return ok && !i.Apart && !i.Last }
	for _, m := range managers.All() {
		member := func(name string) bool { return reads(managers.All().Find(name)) }
		if s, ok := ipam.Part[space.Space](m); ok && (reads(m) || slices.ContainsFunc(m.Members, member)) {
			out = append(out, s.Name)
		}
	}
	slices.Sort(out)
	return out
}

// An imported dump of a cluster is equal to the cluster: the same claims, blocks, affinities, handles and
// reservations, the same policy, the same sandboxes, and the same verdicts.
//
// The dump is taken at the end of a run of a random world with faults and hazards: the output of
// kubectl get for every kind, and for Calico on etcd the output of calicoctl get and calicoctl
// datastore migrate.
//
// Some differences cannot be avoided, because a dump does not contain everything. Each of them is
// an excuse of type excuses. For an excused object the import's value is accepted; everything else
// must be equal.
func TestRoundTrip(t *testing.T) {
	r := scenariotest.Runner(t)
	sum := tripSum{excused: map[string]int{}, verdicts: map[string]int{}}
	from := imports()
	for i := range uint64(*roundtrips) {
		seed, where := i/uint64(len(from))+1, from[i%uint64(len(from))]
		if *roundtrip != 0 && seed != *roundtrip {
			continue
		}
		trip(t, r, where, seed, &sum)
	}
	t.Logf("%d worlds, %d without any excuse; %d claims, %d sandboxes, %d violations", sum.worlds, sum.plain, sum.claims, sum.sandboxes, sum.violations)
	sum.judge(t)
	for _, k := range slices.Sorted(maps.Keys(sum.verdicts)) {
		t.Logf("%6d  %s", sum.verdicts[k], k)
	}
}

// judge prints the share of worlds that needed each excuse. It fails if the share is above the
// ceiling of that excuse by more than three standard deviations.
func (s *tripSum) judge(t *testing.T) {
	all := float64(s.worlds + s.empty)
	most := map[string]float64{anyExcuse: anyExcuseMax}
	maps.Copy(most, ceilings)
	s.excused[anyExcuse] = s.worlds - s.plain
	for _, why := range slices.Sorted(maps.Keys(s.excused)) {
		n, ceiling := float64(s.excused[why]), most[why]
		t.Logf("%6.0f  %4.1f%%, at most %4.1f%%  %s", n, 100*n/all, ceiling, why)
		if expected := ceiling / 100 * all; n > expected+3*math.Sqrt(expected) {
			t.Errorf("%.0f of %.0f worlds needed the excuse of %s; at most %.1f of a hundred may", n, all, why, ceiling)
		}
	}
}

// tripSum is the sum over all round trips.
type tripSum struct {
	worlds, plain, empty, claims, sandboxes, violations int
	excused, verdicts                                   map[string]int
}

// end is a cluster at the end of a run.
type end struct {
	*checker.Snapshot
	stored []cluster.Object
}

func trip(t *testing.T, r *scenarios.Runner, where string, seed uint64, sum *tripSum) {
	t.Helper()
	s, err := space.Draw(managers.All(), where, seed)
	if err != nil {
		t.Fatal(err)
	}
	was := endOf(t, r, s)
	if empty(was) {
		sum.excused[notImported]++
		sum.empty++
		return
	}
	text, notes := imported(t, s, was.stored)
	fail := func(format string, args ...any) {
		t.Errorf("%s: %s", s.Name(), fmt.Sprintf(format, args...))
	}
	in, err := managers.All().Parse(s.Name()+"-imported.yaml", text)
	if err != nil {
		fail("the import does not load: %v", err)
		return
	}
	in.Doc.Spec.Fabric = s.Doc.Spec.Fabric // a dump does not show racks and routers
	in.Doc.Spec.Datastore = s.Doc.Spec.Datastore
	is, err := r.Inspect(context.Background(), in)
	if err != nil {
		fail("the import cannot be looked at: %v", err)
		return
	}
	x := newExcuses(fail, was, is)
	x.read(s)
	x.policy()
	sameRecord(fail, was.Snapshot, is)
	x.truth()
	want := checker.AtRest(*was.Snapshot)
	if got, want := sentences(is.Violations), sentences(want); !slices.Equal(got, want) {
		fail("verdicts differ:\n  only of the import: %s\n  only of the cluster: %s",
			strings.Join(minus(got, want), "\n    "), strings.Join(minus(want, got), "\n    "))
	}
	if *roundtrip != 0 {
		t.Logf("%s\n%s\n%v", s.Name(), text, notes)
	}
	sum.worlds++
	if len(x.count) == 0 {
		sum.plain++
	}
	for why := range x.count {
		sum.excused[why]++
	}
	for _, v := range is.Violations {
		sum.verdicts[v.Invariant]++
	}
	sum.claims += len(is.Record.Claims)
	sum.sandboxes += len(is.Truth.Sandboxes)
	sum.violations += len(is.Violations)
}

// empty reports whether there is no Node, or neither a pool nor a network that a dump could show:
// then there is no scenario to import.
func empty(e end) bool {
	if !slices.ContainsFunc(e.stored, func(o cluster.Object) bool {
		return o.Kind == "Node" && bytes.Contains(o.Body, []byte(`"apiVersion":"v1"`))
	}) {
		return true
	}
	pools := len(e.Record.Pools) + len(e.Record.Affinities)
	for _, n := range e.Networks {
		if n.Blocks == nil {
			return false
		}
		pools += len(n.Blocks.Pools)
	}
	return pools == 0
}

func endOf(t *testing.T, r *scenarios.Runner, s *scenarios.Scenario) end {
	t.Helper()
	var was end
	var bad error
	_, err := r.Run(context.Background(), s, scenarios.Options{Store: scenarios.Memory, End: func(c *cluster.Cluster) {
		if was.Snapshot, bad = c.Checker.Snapshot(); bad == nil {
			was.stored, bad = clustertest.Stored(c)
		}
	}})
	if err = cmp.Or(err, bad); err != nil {
		t.Fatalf("%s: %v", s.Name(), err)
	}
	return was
}

// imported returns the scenario that ipamsim import creates from a dump: one file of kubectl and
// one of calicoctl.
func imported(t *testing.T, s *scenarios.Scenario, stored []cluster.Object) (text []byte, report *dump.Report) {
	t.Helper()
	type head struct{ APIVersion, Kind string }
	lists := map[head][]json.RawMessage{}
	for _, h := range []head{ // kinds without objects have an empty list in the dump
		{"whereabouts.cni.cncf.io/v1alpha1", "IPPool"}, {"whereabouts.cni.cncf.io/v1alpha1", "OverlappingRangeIPReservation"},
		{"crd.projectcalico.org/v1", "IPAMBlock"}, {"crd.projectcalico.org/v1", "BlockAffinity"}, {"crd.projectcalico.org/v1", "IPAMHandle"},
	} {
		lists[h] = nil
	}
	for _, o := range stored {
		var h head
		if err := json.Unmarshal(o.Body, &h); err != nil {
			t.Fatal(err)
		}
		lists[h] = append(lists[h], json.RawMessage(o.Body))
	}
	c := dump.New(managers.All())
	order := func(a, b head) int {
		return cmp.Or(cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind))
	}
	for _, h := range slices.SortedFunc(maps.Keys(lists), order) {
		list, err := json.Marshal(map[string]any{"apiVersion": h.APIVersion, "kind": h.Kind + "List", "items": lists[h]})
		if err == nil {
			err = c.Read(h.Kind+".json", bytes.NewReader(list), nil)
		}
		if err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
	}
	text, report, err := c.Scenario(dump.Options{})
	if err != nil {
		t.Fatalf("%s: %v", s.Name(), err)
	}
	return text, report
}

// sameRecord compares the records, without the revisions of claims, which the store assigns.
func sameRecord(fail func(string, ...any), was, is *checker.Snapshot) {
	claims := func(s *checker.Snapshot) []model.Claim {
		out := slices.Clone(s.Record.Claims)
		for i := range out {
			out[i].Revision = 0
		}
		return out
	}
	for _, x := range []struct {
		what    string
		was, is any
	}{
		{"claims", claims(was), claims(is)},
		{"pools", was.Record.Pools, is.Record.Pools},
		{"affinities", was.Record.Affinities, is.Record.Affinities},
		{"handles", was.Record.Handles, is.Record.Handles},
		{"reservations", was.Record.Reservations, is.Record.Reservations},
		{"policy", byKey(was.Networks), byKey(is.Networks)},
	} {
		if a, b := asJSON(x.was), asJSON(x.is); a != b {
			fail("other %s:\n  was %s\n  is  %s", x.what, a, b)
		}
	}
}

func byKey(all []model.Network) []model.Network {
	return slices.SortedFunc(slices.Values(all), func(a, b model.Network) int { return cmp.Compare(a.Key, b.Key) })
}

// asJSON returns a value for comparison and for messages; null and an empty list are the same.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values
	}
	return strings.ReplaceAll(string(b), "null", "[]")
}

// sentences returns violations as text, sorted.
func sentences(all []model.Violation) []string {
	var out []string
	for _, v := range all {
		out = append(out, v.Invariant+": "+v.Message+fmt.Sprint(" ", v.Objects))
	}
	slices.Sort(out)
	return out
}

func minus(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// The pods of an imported cluster can be deleted: their DELs, which run upstream's own code on the
// adopted sandboxes, leave only claims that had no owner before. For a network with several ranges
// upstream's DEL may leave claims in any case: see scenarios/found-dual-stack-del-stops.yaml and
// found-second-range-unguarded.yaml.
func TestImportedPodsGo(t *testing.T) {
	longtest.Skip(t)
	r := scenariotest.Runner(t)
	released, left, several, gone := 0, 0, 0, 0
	from := imports()
	for i := range uint64(*departures) {
		seed, where := i/uint64(len(from))+1, from[i%uint64(len(from))]
		s, err := space.Draw(managers.All(), where, seed)
		if err != nil {
			t.Fatal(err)
		}
		was := endOf(t, r, s)
		if empty(was) {
			continue
		}
		text, _ := imported(t, s, was.stored)
		in, err := managers.All().Parse(s.Name()+"-imported.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		in.Doc.Spec.Datastore = s.Doc.Spec.Datastore
		is, err := r.Inspect(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		now := endOf(t, r, emptied(in, is))
		for _, c := range now.Record.Claims {
			switch {
			case owner(is, c) == nil:
				left++
			case laterRange(is.Networks, c.Addr):
				several++
			default:
				t.Errorf("%s: %s is still claimed for %s (%s), which was there and is gone", s.Name(), c.Addr, c.Pod, c.Container)
			}
		}
		for _, b := range now.Truth.Sandboxes {
			if b.Pod.Namespace != "" {
				t.Errorf("%s: %s still runs on %s", s.Name(), b.Pod, b.Node)
			}
		}
		released += len(is.Record.Claims) - len(now.Record.Claims)
		gone += len(is.Truth.Sandboxes)
	}
	t.Logf("%d worlds: %d sandboxes went and %d claims with them; %d that nobody had stay, and %d of later ranges", *departures, gone, released, left, several)
}

// emptied returns a scenario in which every pod is deleted, with the workloads that would create it
// again, and nothing else happens.
func emptied(in *scenarios.Scenario, is *scenarios.View) *scenarios.Scenario {
	out := *in
	spec := &out.Doc.Spec
	spec.Timeline, spec.Reconcilers, spec.Daemons = nil, nil, nil
	spec.Until.Duration, spec.Settle.Duration = 5*time.Minute, 0
	namespaces := map[string]bool{}
	for ref := range is.Truth.Pods {
		namespaces[ref.Namespace] = true
	}
	// Pods twice: a controller may create one again before it observes the deletion of its own object.
	for i, resource := range []string{"deployments.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch", "pods", "pods"} {
		for _, n := range slices.Sorted(maps.Keys(namespaces)) {
			e := scenarios.Event{Action: &action.Delete{Resource: resource, Namespace: n, All: true}}
			e.At.Duration = time.Duration(i) * 10 * time.Second
			spec.Timeline = append(spec.Timeline, e)
		}
	}
	return &out
}

// owner returns the sandbox of a claim, nil if it has none.
func owner(is *scenarios.View, c model.Claim) *model.Sandbox {
	for i := range is.Truth.Sandboxes {
		s := &is.Truth.Sandboxes[i]
		if s.Pod.Namespace == "" {
			continue
		}
		for _, a := range s.Attachments {
			if slices.Contains(a.Addrs, c.Addr) && (s.ID == c.Container || s.Pod == c.Pod) {
				return s
			}
		}
	}
	return nil
}

// laterRange reports whether an address is in another than the first range of a network.
func laterRange(all []model.Network, a netip.Addr) bool {
	for i := range all {
		if r := all[i].Ranges; all[i].Blocks == nil && len(r) > 1 && slices.ContainsFunc(r[1:], func(x model.Range) bool { return x.Prefix.Contains(a) }) {
			return true
		}
	}
	return false
}
