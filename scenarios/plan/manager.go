package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
	"ipamsim/model/metric"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster"
	"ipamsim/sim/ipam"
)

// Manager is the planning part of an address manager's ipam.Manager (see ipam.Manager.With). Configure is
// required; other zero values and nil functions mean that the manager does not support a feature.
type Manager struct {
	// Configure sets Cluster.Manager from the scenario of a cell. Cluster.Networks is already set. An error is a
	// user error; one about a setting is a *Mistake.
	Configure func(d *Draft, s *scenarios.Scenario, c *capacity.Cluster) error

	// Settings are the manager's own settings, in the order of documentation.
	Settings []Setting
	// Manifests changes the manifests of the plan's cluster as the settings say. An error
	// is as one of Configure.
	Manifests func(d *Draft, all []cluster.Object) ([]cluster.Object, error)
	// Blame are the settings that a refused manifest is due to, the most likely first.
	Blame []string

	// Collector is the name of its reconciler for the reader. Pass is the process whose passes Cluster.Collect
	// counts. Daemon makes passes itself at the interval Every, the default of a plan.
	Collector, Pass, Daemon string
	Every                   time.Duration
	// Grace is Collect.Grace by the manifests.
	Grace func([]cluster.Object) time.Duration

	// Stored are the kinds of what the manager has written: a plan with one of them
	// begins with a cluster that runs.
	Stored []string
	// Moves is the way of a cluster that runs to what an option asks for. It is asked if
	// the cluster has a manifest of the kind Pool.
	Moves func(Move) ([]Step, error)
	Pool  string

	Real RealCode
	// Tenants get the addresses, if it is not pods that do; nil: pods.
	Tenants *Tenants
}

// Tenants are objects that get addresses as pods do elsewhere: each pod of the trace is a tenant.
// There is one node, to which nothing happens.
type Tenants struct {
	Kind, Resource string // Service, services
	// Number is the setting with the number of tenants; Shared are the common settings that a plan may have.
	Number string
	Shared []string
	// Spec of the one of a name, in the trial of a seed.
	Spec func(c *capacity.Cluster, seed uint64, name string) Body
	// Measure completes the sample of a view: Pods are those that are stored.
	Measure func(x *capacity.Sample, v metric.View, c *capacity.Cluster)
}

// only refuses a setting of pods or nodes.
func (t *Tenants) only(name string) string {
	if t == nil || slices.Contains(t.Shared, name) {
		return ""
	}
	return fmt.Sprintf("%s is a setting of pods or nodes, and this is a plan for %s", name, t.Resource)
}

// Move is from what a cluster that runs has to what an option asks for.
type Move struct {
	*Draft   // of the option
	From, To *scenarios.Scenario
	Was, Is  *capacity.Cluster
}

// Step is a step of a migration, with the operator's actions at one time; a step without actions only restarts
// pods.
type Step struct {
	workload.Step
	Events []scenarios.Event
}

// RealCode is what the manager's own code needs to live through the same trial as its
// allocator, event by event.
type RealCode struct {
	// Least and Most are how long a step may be in which one thing happens and is done;
	// 0 is 1 s and 10 s.
	Least, Most time.Duration
	// Latency is how long a message may take if a step has room for so long a one.
	Latency func(c *capacity.Cluster, longest time.Duration) time.Duration
	// TooMuch renders why the real code would take too long; then it is not run in addition to the reference.
	// Unable renders why it cannot be compared. "" is neither.
	TooMuch, Unable func(*capacity.Cluster) string
	// Daemons that run.
	Daemons func(*capacity.Cluster) []string
	// Objects changes what is stored before the first event.
	Objects func(all []cluster.Object, c *capacity.Cluster) ([]cluster.Object, error)
	// Wanting reports whether the error of an ADD means that the node had no address left to assign,
	// in addition to the errors known to model.Event.Exhausted.
	Wanting func(err string) bool
}

// Mistake is what is wrong with one setting.
type Mistake struct{ Setting, Problem string }

func (m *Mistake) Error() string { return m.Problem }

// planned are the managers that plans are for, sorted.
func planned(all scenarios.Managers) (out scenarios.Managers) {
	for _, name := range all.Names() {
		m := all.Find(name)
		if _, ok := ipam.Part[Manager](m); ok {
			out = append(out, m)
		}
	}
	return out
}

// managed finds what is known of the manager of the plan's cluster.
func (p *Plan) managed() error {
	spec, all := &p.Doc.Spec, planned(p.sheet.Managers()).Names()
	var ok bool
	if p.manager, ok = ipam.Part[Manager](p.base.Manager()); !ok && len(all) == 0 {
		return p.sheet.Fail(fmt.Sprintf("a scenario of %s, but no manager of this program supports plans: give it a plan.Manager (ipam.Manager.With)", p.Manager()), "spec", "from")
	} else if !ok {
		return p.sheet.Fail(fmt.Sprintf("a scenario of %s, but plans support %s", p.Manager(), strings.Join(all, " or ")), "spec", "from")
	}
	if spec.IPAM != "" && spec.IPAM != p.Manager() {
		return p.sheet.Fail("the scenario is one of "+p.Manager()+", remove ipam", "spec", "ipam")
	}
	return nil
}

// known refuses a manager that plans are not for.
func (p *Plan) known() error {
	all := planned(p.sheet.Managers()).Names()
	if name := p.Doc.Spec.IPAM; name != "" && !slices.Contains(all, name) {
		return p.sheet.Fail(strict.Quote(name)+" is not known, "+strict.Want(name, all), "spec", "ipam")
	}
	return nil
}
