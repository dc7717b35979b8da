package answer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/reference/calico"
	"ipamsim/reports"
)

// Race is a known failure of the address manager that an option brings, or makes more
// likely, and that no life of a plan shows: it takes two processes at once.
type Race struct {
	Change   Change `json:"change"`
	What     string `json:"what"`
	Upstream string `json:"upstream"` // the version of which it is known
	Command  string `json:"command"`  // shows it

	words string // of the change
}

// Change is what an option does that races follow from.
type Change string

// The changes of which something is known.
const (
	CollectorOn   Change = "collector-on"
	PassesOftener Change = "passes-oftener"
	ReleaseSooner Change = "release-sooner"
	StrictOff     Change = "strict-off"
	BlocksLimited Change = "blocks-limited"
	OnEtcd        Change = "on-etcd"
	PoolsChange   Change = "pools-change"
	SlicesOn      Change = "slices-on"
	OverlapOn     Change = "overlap-on"
)

// change says when an option makes one, in words, and what is known to follow.
type change struct {
	Change
	words string
	made  func(now, then *capacity.Cluster) bool
	rows  []follows
}

// follows is a row of the track record, by the name of its scenario, and of which clusters
// it can be true; nil: of all.
type follows struct {
	scenario string
	of       func(then *capacity.Cluster) bool
}

// That a change brings its rows is tested by running each scenario with and without it:
// TestRacesAreBrought of cmd/ipamsim.
var changes = []change{
	{CollectorOn, "lets calico-kube-controllers collect garbage", both(isCalico, func(a, b *capacity.Cluster) bool { return a.Collect.Every == 0 && collects(b) }), []follows{
		{"found-calico-deleted-node-lives", nil}, {"found-calico-lagging-cache", nil}, {"calico-12257-stale-node-name", nil},
		{"found-calico-etcd-node-deletion", onEtcd}, {"found-calico-node-deletion-repeated", onEtcd}, {"found-calico-half-release", onEtcd},
		{"calico-12741-tombstone", nil}, {"found-calico-gc-spins", nil}, {"calico-5044-half-reported", dual}, {"calico-7839-leftover-handle", nil},
		{"found-calico-borrower-loses-the-block", borrows},
	}},
	{PassesOftener, "collects garbage more often, for which upstream has leakGracePeriod only: it passes twice in each, so it releases sooner too", both(isCalico, func(a, b *capacity.Cluster) bool { return a.Collect.Every > 0 && oftener(a, b) }), sooner},
	{ReleaseSooner, "releases after a shorter time", both(isCalico, func(a, b *capacity.Cluster) bool { return collects(a) && collects(b) && grace(b) < grace(a) }), sooner},
	{StrictOff, "switches strict affinity off", both(isCalico, func(a, b *capacity.Cluster) bool { return !borrows(a) && borrows(b) }), []follows{
		{"found-calico-borrower-loses-the-block", collects},
	}},
	{BlocksLimited, "limits the blocks of a node", both(isCalico, func(a, b *capacity.Cluster) bool { return blocks(b) < blocks(a) }), []follows{
		{"found-calico-limit-race", tunnels}, {"found-calico-limit-per-pools", func(c *capacity.Cluster) bool { return len(c.Calico.Pools) > 1 }},
	}},
	{OnEtcd, "keeps the record in etcd", both(isCalico, func(a, b *capacity.Cluster) bool { return !onEtcd(a) && onEtcd(b) }), []follows{
		{"found-calico-etcd-node-deletion", collects}, {"found-calico-node-deletion-repeated", collects}, {"found-calico-half-release", collects},
		{"found-calico-asked-address-taken", nil},
	}},
	{PoolsChange, "changes IPPools of a running cluster with tunnels", both(isCalico, func(_, b *capacity.Cluster) bool { return tunnels(b) && slices.ContainsFunc(b.Migration, ofPool) }), []follows{
		{"found-calico-tunnel-change-forgotten", nil}, {"found-calico-tunnel-address-freed-first", nil},
	}},
	{PassesOftener, "runs the reconciler more often", both(isWhereabouts, oftener), []follows{
		{"r1-whereabouts-162", nil}, {"whereabouts-110-scale", nil}, {"whereabouts-485-partition", nil}, {"found-failed-refetch-frees", nil},
		{"whereabouts-207-overlap", guards}, {"found-named-reservations-wiped", network(func(n *model.Network) bool { return n.Overlap && n.Name != "" })},
		{"found-address-that-ends-in-colons", network(func(n *model.Network) bool { return n.Overlap && slices.ContainsFunc(n.Ranges, v6) })},
	}},
	{SlicesOn, "switches node slices on", both(isWhereabouts, switched(sliced)), []follows{
		{"found-node-slice-panic", nil}, {"found-slice-of-replaced-node", nil}, {"found-control-loop-knows-no-slices", nil},
		{"found-slices-ignore-exclude", network(func(n *model.Network) bool { return slices.ContainsFunc(n.Ranges, excludes) })},
		{"found-slices-of-two-networks", func(c *capacity.Cluster) bool { return len(c.Whereabouts.Networks) > 1 }}, {"found-slices-of-a-list", nil},
	}},
	{OverlapOn, "switches overlapping ranges on", both(isWhereabouts, switched(guarded)), []follows{
		{"found-low-addresses-held", guards}, {"found-dual-stack-del-stops", network(func(n *model.Network) bool { return n.Overlap && len(n.Ranges) > 1 })},
	}},
}

// sooner is what follows when leaks and empty blocks are released sooner.
var sooner = []follows{
	{"calico-12257-stale-node-name", nil}, {"found-calico-half-release", onEtcd}, {"found-calico-gc-spins", nil}, {"calico-5044-half-reported", dual},
}

// Races are those that a cluster brings in the place of another one, in the order of
// the changes.
//
// It returns an error if the track record cannot be read.
func Races(now, then *capacity.Cluster) (out []Race, err error) {
	if now == nil || then == nil {
		return nil, nil
	}
	record, err := reports.TrackRecord()
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if !c.made(now, then) {
			continue
		}
		for _, k := range c.rows {
			if k.of != nil && !k.of(then) {
				continue
			}
			i := slices.IndexFunc(record, func(t reports.Track) bool { return strings.HasSuffix(plain(t.Command), "/"+k.scenario+".yaml") })
			if i < 0 {
				return nil, fmt.Errorf("races: the track record has no row of %s", k.scenario)
			}
			t := record[i]
			out = append(out, Race{c.Change, plain(t.What), t.Upstream, plain(t.Command), c.words})
		}
	}
	return out, nil
}

// plain is a cell of the track record without Markdown's marks.
func plain(s string) string { return strings.ReplaceAll(s, "`", "") }

// races of row to in the place of row from. TestRaces reads the whole track record, so
// that nothing can be missing.
func (a *Answer) races(from, to int) []Race {
	if from == to {
		return nil
	}
	all, err := Races(a.plan.Cells[from].Cluster, a.plan.Cells[to].Cluster)
	if err != nil {
		return nil
	}
	return all
}

// brings says which known races the choice brings, against what there is now.
func (a *Answer) brings(r *Recommendation) string {
	var parts []string
	for i := 0; i < len(r.Races); {
		first, of := r.Races[i], []string(nil)
		for ; i < len(r.Races) && r.Races[i].Change == first.Change; i++ {
			of = append(of, fmt.Sprintf("%s (%s)", r.Races[i].What, r.Races[i].Command))
		}
		parts = append(parts, fmt.Sprintf("It %s, and no trial here shows what %s is known to do then: %s.", first.words, first.Upstream, strings.Join(some(of, told), "; ")))
	}
	return strings.Join(parts, " ")
}

func both(is func(*capacity.Cluster) bool, made func(now, then *capacity.Cluster) bool) func(now, then *capacity.Cluster) bool {
	return func(now, then *capacity.Cluster) bool { return is(now) && is(then) && made(now, then) }
}

func isCalico(c *capacity.Cluster) bool      { return c.Calico != nil }
func isWhereabouts(c *capacity.Cluster) bool { return c.Whereabouts != nil }
func onEtcd(c *capacity.Cluster) bool        { return c.Calico.Datastore != calico.Kubernetes }
func borrows(c *capacity.Cluster) bool       { return !c.Calico.Config.Strict }
func dual(c *capacity.Cluster) bool          { return c.Calico.V4 && c.Calico.V6 }
func collects(c *capacity.Cluster) bool      { return c.Collect.Every > 0 }

// tunnels reports whether nodes have addresses for devices.
func tunnels(c *capacity.Cluster) bool {
	return c.Calico.Tunnels && slices.ContainsFunc(c.Calico.Pools, func(p calico.Pool) bool { return p.IPIP || p.VXLAN })
}

func ofPool(s capacity.Step) bool {
	return s.Kind == capacity.CreatePool || s.Kind == capacity.DisablePool || s.Kind == capacity.DeletePool
}

func sliced(n *model.Network) bool  { return n.Slice > 0 }
func guarded(n *model.Network) bool { return n.Overlap }
func v6(r model.Range) bool         { return r.Prefix.Addr().Is6() }
func excludes(r model.Range) bool   { return len(r.Exclude) > 0 }

// network asks for a network that is so.
func network(is func(*model.Network) bool) func(*capacity.Cluster) bool {
	return func(c *capacity.Cluster) bool {
		return slices.ContainsFunc(c.Whereabouts.Networks, func(n model.Network) bool { return is(&n) })
	}
}

// guards reports whether two networks with guarded ranges may hand out the same address.
func guards(c *capacity.Cluster) bool {
	all := c.Whereabouts.Networks
	for i := range all {
		for k := range all[:i] {
			if all[i].Overlap && all[k].Overlap && overlap(all[i].Ranges, all[k].Ranges) {
				return true
			}
		}
	}
	return false
}

func overlap(a, b []model.Range) bool {
	return slices.ContainsFunc(a, func(x model.Range) bool {
		return slices.ContainsFunc(b, func(y model.Range) bool { return x.Prefix.Overlaps(y.Prefix) })
	})
}

// oftener reports whether passes come at shorter intervals, or come at all.
func oftener(now, then *capacity.Cluster) bool {
	a, b := now.Collect.Every, then.Collect.Every
	return b > 0 && (a == 0 || b < a)
}

// grace is for how long the collector waits, for ever if it releases nothing.
func grace(c *capacity.Cluster) time.Duration {
	switch g := c.Collect.Grace; {
	case g < 0:
		return 1<<63 - 1
	case g == 0:
		return graceUsual
	default:
		return g
	}
}

// graceUsual is upstream's leakGracePeriod.
//
// Source: kube-controllers/pkg/config, DefaultLeakGracePeriod (v3.31).
const graceUsual = 15 * time.Minute

// blocks is how many a node may have; 0 is upstream's 20.
func blocks(c *capacity.Cluster) int {
	if n := c.Calico.Config.MaxBlocks; n > 0 {
		return n
	}
	return blocksUsual
}

// Source: libcalico-go/lib/ipam, autoAssign (v3.31).
const blocksUsual = 20

// switched reports whether a network of then is so and none of now.
func switched(is func(*model.Network) bool) func(now, then *capacity.Cluster) bool {
	return func(now, then *capacity.Cluster) bool { return !network(is)(now) && network(is)(then) }
}
