package plan

import (
	"slices"
	"strings"
	"time"

	"ipamsim/model/capacity/workload"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan/values"
	"ipamsim/sim/ipam"
)

// Setting is one thing that a plan sets or varies, for all pods and nodes alike.
type Setting struct {
	Name  string
	Means string // with its unit
	Of    string // the only address manager that has it; "": all
	About About
	// Given: the setting is not a choice, but part of the load or the failures of a cluster.
	Given bool
	values.Type
}

// About is the section of the documentation of a setting.
type About int

// In this order; those of all managers stand before upkeep.
const (
	OfAddresses About = iota
	OfCluster
	OfUpkeep
)

// Bounds of a plan, against files that ask for more than any machine can answer.
const (
	nodesMax = 10_000 // twice what Kubernetes supports
	podsMax  = 1_000_000
)

// Into is a kind whose values, T, are put into a field of the draft, too.
func Into[T any](k values.Type, put func(*Draft, T)) values.Type {
	k.Put = func(d, v any) { put(d.(*Draft), v.(T)) }
	return k
}

// Known are all settings for the managers, in the order in which people think of them: addresses,
// machines, pods, trouble, upkeep.
func Known(managers scenarios.Managers) []Setting {
	managers = planned(managers)
	return slices.Concat(ofManagers(managers, OfAddresses), ofManagers(managers, OfCluster), loadSettings(), arrivalSettings(), troubleSettings(managers), ofManagers(managers, OfUpkeep))
}

// ofManagers are the settings that only one manager has.
func ofManagers(managers scenarios.Managers, about About) (out []Setting) {
	for _, m := range managers {
		part, _ := ipam.Part[Manager](m)
		for _, s := range part.Settings {
			if s.About == about {
				s.Of = m.Name
				out = append(out, s)
			}
		}
	}
	return out
}

// collectors are what the reconcilers of all managers are called.
func collectors(managers scenarios.Managers) (out []string) {
	for _, m := range managers {
		if part, _ := ipam.Part[Manager](m); part.Collector != "" {
			out = append(out, part.Collector)
		}
	}
	return out
}

func given(name, means string, k values.Type) Setting {
	return Setting{Name: name, Means: means, Type: k, Given: true}
}

func chosen(name, means string, k values.Type) Setting {
	return Setting{Name: name, Means: means, Type: k}
}

func loadSettings() []Setting {
	return []Setting{
		given("nodes", "number of nodes at the start", Into(values.Whole(1, nodesMax), func(d *Draft, n int) { d.nodes = n })),
		given("grow", "number of nodes that join over the horizon, at equal intervals", Into(values.Whole(0, nodesMax), func(d *Draft, n int) { d.Load.Grow = n })),
		given("growAt", "time at which all of them join together instead", Into(values.Time(time.Minute), func(d *Draft, t time.Duration) { d.Load.GrowAt = t })),
		given("pods", "total number of pods that run, independent of the number of nodes", Into(values.Whole(1, podsMax), func(d *Draft, n int) {
			d.Load.Pods, d.Load.PodsPerNode = n, workload.Distribution{}
		})),
		given("podsPerNode", "pods per node, drawn for each node", Into(values.Distribution(), func(d *Draft, x workload.Distribution) {
			d.Load.Pods, d.Load.PodsPerNode = 0, x
		})),
		chosen("maxPods", "maximum number of pods of a kubelet; default: 110", Into(values.Whole(1, values.PodsPerNodeMax), func(d *Draft, n int) { d.Load.MaxPods = n })),
		given("lifetime", "how long a pod runs until another replaces it, exponential with this mean or by percentiles; 0: it stays", Into(values.Lifetimes(), func(d *Draft, l values.Lifetime) {
			d.Load.Lifetime, d.Load.Lifetimes = l.Mean, l.By
		})),
	}
}

func troubleSettings(managers scenarios.Managers) []Setting {
	every := func(to func(*Draft) *time.Duration) values.Type {
		return Into(values.Time(time.Minute), func(d *Draft, t time.Duration) { *to(d) = t })
	}
	return []Setting{
		given("drainEvery", "time between two drains of a node, exponential with this mean; 0: none", every(func(d *Draft) *time.Duration { return &d.Trouble.DrainEvery })),
		given("drainFor", "how long a drained node accepts no pods", every(func(d *Draft) *time.Duration { return &d.Trouble.DrainFor })),
		given("crashEvery", "time between two power losses of a node, exponential with this mean; 0: none", every(func(d *Draft) *time.Duration { return &d.Trouble.CrashEvery })),
		given("crashFor", "how long a node is without power", every(func(d *Draft) *time.Duration { return &d.Trouble.CrashFor })),
		given("replaceEvery", "time until a node is lost permanently, exponential with this mean; 0: never", every(func(d *Draft) *time.Duration { return &d.Trouble.ReplaceEvery })),
		given("replaceFor", "time until a node with another name replaces it", every(func(d *Draft) *time.Duration { return &d.Trouble.ReplaceFor })),
		given("replaceDrained", "drain a node before it is replaced and switched off", Into(values.Flag(), func(d *Draft, b bool) { d.Trouble.ReplaceDrained = b })),
		chosen("keepNode", "keep the Node object of a lost node", Into(values.Flag(), func(d *Draft, b bool) { d.Trouble.KeepNode = b })),
		given("evict", "how long pods stay on a node without heartbeat; default: 340s", Into(values.Time(time.Minute), func(d *Draft, t time.Duration) { d.Trouble.Evict = t })),
		chosen("reconcileEvery", "time between two passes of "+strings.Join(collectors(managers), " or of ")+"; 0: none", every(func(d *Draft) *time.Duration { return &d.Collect.Every })),
	}
}

// setting finds one.
func (p *Plan) setting(name string) (Setting, bool) {
	for _, s := range Known(p.sheet.Managers()) {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}
