package hazard

import (
	"context"
	"maps"
	"path"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/ipam"
)

// ClockJumps is the kind of hazard that needs the hermetic runtime.
const ClockJumps = "clockJump"

// kinds by name: those of the timeline's actions where there is one.
//
//	clockJump   the wall clock of a machine jumps forward or back, and stays so
//	crash       a node loses its power, with its sandboxes, for good
//	cloud       the provider's API refuses calls, fails in the middle of them or is slow
//	cutSession  the BGP sessions of a node are lost for a while
//	disk        the disk of a node is full, read-only, without inodes, broken or slow
//	kill        a process of the manager dies after one of its messages
//	partition   a node cannot reach the API server for a while
//	pause       a process of the manager stops after one of its messages, keeps
//	            what it believes (a lease, a list), and wakes later
//	pauseNode   so do all processes of a node
//	plugin      a CNI plugin of a node fails after the manager has given an address, or when
//	            it takes the interface away
//	reboot      a node loses its power and has it again after a while
//	reconcile   a pass of a scheduled reconciler starts now, beside any that runs
//	replace     a new machine takes the place, and the name, of a node's
//	restart     a daemon or a kubelet dies; its supervisor starts it again
//	restartRuntime  so does the container runtime of a node
//	second      a daemon that is a deployment runs twice for a while
//	stopBIRD    a node's routing daemon stops for a while
var kinds = map[string]kind{
	ClockJumps:       {always, planClockJump},
	"crash":          {always, onNode(func(n string) cluster.Action { return &action.Crash{Node: n} })},
	"cloud":          {callsCloud, planCloud},
	"cutSession":     {routed, undone(func(n string, undo bool) cluster.Action { return &action.CutSession{A: n, Undo: undo} })},
	"disk":           {usesDisk, planDisk},
	"kill":           {always, planKill},
	"partition":      {always, lastingOn(func(n string, d metav1.Duration) cluster.Action { return &action.Partition{Node: n, For: d} })},
	"pause":          {always, planPause},
	"pauseNode":      {always, lastingOn(func(n string, d metav1.Duration) cluster.Action { return &action.Pause{Actor: n, For: d} })},
	"plugin":         {hasNetworks, planPlugin},
	"reboot":         {always, lastingOn(func(n string, d metav1.Duration) cluster.Action { return &action.Reboot{Node: n, Down: d} })},
	"reconcile":      {hasCron, planReconcile},
	"replace":        {always, onNode(func(n string) cluster.Action { return &action.ReplaceNode{Node: n} })},
	"restart":        {always, planRestart},
	"restartRuntime": {always, lastingOn(func(n string, d metav1.Duration) cluster.Action { return &action.RestartRuntime{Node: n, Down: d} })},
	"second":         {hasDeployment, planSecond},
	"stopBIRD":       {routed, undone(func(n string, undo bool) cluster.Action { return &action.StopBIRD{Node: n, Undo: undo} })},
}

// kind is one kind of hazard.
type kind struct {
	// needs says what a cluster lacks for it, or "".
	needs func(Scope) string
	// plan asks the schedule for everything there is to know. An event without
	// Action is nothing.
	plan func(context.Context, *hazard) (event, error)
}

// Scope is what a kind of hazard may need of a cluster.
type Scope struct {
	Routes      bool // nodes announce routes
	Crons       bool // a reconciler runs on a schedule
	Deployments bool // a daemon runs that is not one of each node
	Disk        bool // the manager keeps files on nodes
	Cloud       bool // the manager calls a provider's API
	Networks    bool // CNI plugins attach pods to networks
}

// Kinds lists all kinds, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Check says why a kind cannot happen in such a cluster, or "".
func Check(kind string, s Scope) string { return kinds[kind].needs(s) }

// What kinds need of a cluster.
var (
	always        = unless("", func(Scope) bool { return true })
	routed        = unless("the primary network announces no routes", func(s Scope) bool { return s.Routes })
	hasCron       = unless("no reconciler runs on a schedule: list one under spec.reconcilers", func(s Scope) bool { return s.Crons })
	hasDeployment = unless("no daemon runs that there could be a second one of", func(s Scope) bool { return s.Deployments })
	usesDisk      = unless("the address manager keeps no files on nodes", func(s Scope) bool { return s.Disk })
	hasNetworks   = unless("no CNI plugin attaches pods to a network", func(s Scope) bool { return s.Networks })
	callsCloud    = unless(action.ErrNoCloud.Error(), func(s Scope) bool { return s.Cloud })
)

// unless says what a cluster lacks that does not have something.
func unless(lack string, has func(Scope) bool) func(Scope) string {
	return func(s Scope) string {
		if has(s) {
			return ""
		}
		return lack
	}
}

func onNode(act func(node string) cluster.Action) func(context.Context, *hazard) (event, error) {
	return func(ctx context.Context, h *hazard) (event, error) {
		n, ok, err := h.node(ctx)
		if !ok {
			return event{}, err
		}
		return event{Action: act(n)}, nil
	}
}

func lastingOn(act func(node string, d metav1.Duration) cluster.Action) func(context.Context, *hazard) (event, error) {
	return func(ctx context.Context, h *hazard) (event, error) {
		n, ok, err := h.node(ctx)
		if !ok {
			return event{}, err
		}
		d, err := h.duration(ctx)
		return event{Action: act(n, metav1.Duration{Duration: h.clip(d)})}, err
	}
}

func undone(act func(node string, undo bool) cluster.Action) func(context.Context, *hazard) (event, error) {
	return func(ctx context.Context, h *hazard) (event, error) {
		n, ok, err := h.node(ctx)
		if !ok {
			return event{}, err
		}
		d, err := h.duration(ctx)
		return event{Action: act(n, false), after: h.clip(d), undo: act(n, true)}, err
	}
}

// jumps are how far a clock jumps: a correction by NTP, a machine that was off
// without a battery, a wrong time zone set by hand.
var jumps = []time.Duration{time.Second, -time.Second, 10 * time.Minute, -10 * time.Minute, 24 * time.Hour, -24 * time.Hour}

func planClockJump(ctx context.Context, h *hazard) (event, error) {
	n, _, err := one(ctx, h, "machine", append(h.c.Nodes(), ""))
	if err != nil {
		return event{}, err
	}
	i, err := h.draw(ctx, "by", len(jumps))
	return event{Action: &action.ClockJump{Node: n, By: metav1.Duration{Duration: jumps[i].Abs()}, Back: jumps[i] < 0}}, err
}

func planReconcile(ctx context.Context, h *hazard) (event, error) {
	var all []*action.Reconcile
	for _, k := range h.Crons {
		if len(k.Nodes) == 0 {
			all = append(all, &action.Reconcile{Name: k.Reconciler})
		}
		for _, n := range k.Nodes {
			if h.c.Up(n) {
				all = append(all, &action.Reconcile{Name: k.Reconciler, Node: n})
			}
		}
	}
	a, ok, err := one(ctx, h, "pass", all)
	if !ok {
		return event{}, err
	}
	return event{Action: a}, nil
}

func planSecond(ctx context.Context, h *hazard) (event, error) {
	daemons := slices.DeleteFunc(slices.Clone(h.c.Config.Daemons), func(d string) bool { return perNode(h.c, d) })
	slices.Sort(daemons)
	d, ok, err := one(ctx, h, "daemon", slices.Compact(daemons))
	if !ok {
		return event{}, err
	}
	long, err := h.duration(ctx)
	return event{Action: &action.Second{Daemon: d, For: metav1.Duration{Duration: h.clip(long)}}}, err
}

func planRestart(ctx context.Context, h *hazard) (event, error) {
	var all []string
	for _, id := range alive(h.c) {
		head, rest := family(id)
		if slices.Contains(h.c.Config.Daemons, head) || head == "kubelet" && path.Base(rest) == rest {
			all = append(all, id)
		}
	}
	id, ok, err := one(ctx, h, "process", all)
	if !ok {
		return event{}, err
	}
	if head, _ := family(id); head == "kubelet" || head == "kube-apiserver" {
		return event{Action: &action.Kill{Actor: id}}, nil
	}
	return event{Action: &action.Terminate{Actor: id}}, nil
}

func planKill(ctx context.Context, h *hazard) (event, error) {
	id, err := h.trigger(ctx)
	if id == "" {
		return event{}, err
	}
	return event{Action: &action.Kill{Actor: id}}, nil
}

func planPause(ctx context.Context, h *hazard) (event, error) {
	d, err := h.duration(ctx)
	if err != nil {
		return event{}, err
	}
	id, err := h.trigger(ctx)
	if id == "" {
		return event{}, err
	}
	return event{Action: &action.Pause{Actor: id, For: metav1.Duration{Duration: h.clip(d)}}}, nil
}

// perNode reports whether a daemon runs on every node.
func perNode(c *cluster.Cluster, daemon string) bool {
	return slices.ContainsFunc(c.Config.Manager.Processes, func(p ipam.Process) bool { return p.Name == daemon && p.PerNode })
}
