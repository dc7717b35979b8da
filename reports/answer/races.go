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
	PassesOftener Change = "passes-oftener"
	ReleaseSooner Change = "release-sooner"
	StrictOn      Change = "strict-on"
	BlocksLimited Change = "blocks-limited"
	OnEtcd        Change = "on-etcd"
	SlicesOn      Change = "slices-on"
	OverlapOn     Change = "overlap-on"
)

// changes says when an option makes one, in words, and which rows of the track
// record follow from it, by the names of their scenarios.
var changes = []struct {
	Change
	words string
	made  func(now, then *capacity.Cluster) bool
	rows  []string
	etcd  []string // with this datastore only
}{
	{PassesOftener, "collects garbage more often", both(isCalico, oftener),
		[]string{"found-calico-lagging-cache", "found-calico-deleted-node-lives", "calico-12257-stale-node-name"},
		[]string{"found-calico-node-deletion-repeated", "found-calico-half-release"}},
	{ReleaseSooner, "releases after a shorter time", both(isCalico, sooner), []string{"calico-12257-stale-node-name"}, nil},
	{StrictOn, "switches strict affinity on", both(isCalico, func(a, b *capacity.Cluster) bool { return !a.Calico.Config.Strict && b.Calico.Config.Strict }),
		[]string{"w3-strict-affinity-later"}, nil},
	{BlocksLimited, "limits the blocks of a node", both(isCalico, func(a, b *capacity.Cluster) bool { return blocks(b) < blocks(a) }),
		[]string{"found-calico-limit-race", "found-calico-limit-per-pools"}, nil},
	{OnEtcd, "keeps the record in etcd", both(isCalico, func(a, b *capacity.Cluster) bool { return !onEtcd(a) && onEtcd(b) }), nil,
		[]string{"found-calico-etcd-node-deletion", "found-calico-node-deletion-repeated", "found-calico-half-release"}},
	{PassesOftener, "runs the reconciler more often", both(isWhereabouts, oftener),
		[]string{"r1-whereabouts-162", "whereabouts-110-scale", "whereabouts-485-partition", "found-failed-refetch-frees"}, nil},
	{SlicesOn, "switches node slices on", both(isWhereabouts, switched(func(n model.Network) bool { return n.Slice > 0 })),
		[]string{"found-slice-of-replaced-node", "found-node-slice-panic", "found-control-loop-knows-no-slices", "found-slices-ignore-exclude"}, nil},
	{OverlapOn, "switches overlapping ranges on", both(isWhereabouts, switched(func(n model.Network) bool { return n.Overlap })), []string{"whereabouts-207-overlap"}, nil},
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
		rows := c.rows
		if isCalico(then) && onEtcd(then) {
			rows = slices.Concat(rows, c.etcd)
		}
		for _, name := range rows {
			i := slices.IndexFunc(record, func(t reports.Track) bool { return strings.HasSuffix(plain(t.Command), "/"+name+".yaml") })
			if i < 0 {
				return nil, fmt.Errorf("races: the track record has no row of %s", name)
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

// oftener reports whether passes come at shorter intervals, or come at all.
func oftener(now, then *capacity.Cluster) bool {
	a, b := now.Collect.Every, then.Collect.Every
	return b > 0 && (a == 0 || b < a)
}

// sooner reports whether the collector waits for less.
func sooner(now, then *capacity.Cluster) bool {
	if then.Collect.Every == 0 {
		return false
	}
	a, b := grace(now), grace(then)
	return b < a
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
func switched(is func(model.Network) bool) func(now, then *capacity.Cluster) bool {
	return func(now, then *capacity.Cluster) bool {
		return !slices.ContainsFunc(now.Whereabouts.Networks, is) && slices.ContainsFunc(then.Whereabouts.Networks, is)
	}
}
