// Package scenarios is the file format users write, the strict loader, and the
// way from a file to a report. The library is beside it: NAME.yaml with the
// golden outcome in NAME.golden.
package scenarios

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/control"
	"ipamsim/sim/cluster/cron"
)

// APIVersion and Kind of the document that turns manifests into a scenario.
const (
	APIVersion = "ipamsim.dev/v1alpha1"
	Kind       = "Scenario"
)

// Document is the Scenario document of a file. Every other document of the file
// is an ordinary Kubernetes manifest, stored before the first step.
type Document struct {
	APIVersion string   `json:"apiVersion" jsonschema:"required,enum=ipamsim.dev/v1alpha1"`
	Kind       string   `json:"kind" jsonschema:"required,enum=Scenario"`
	Metadata   Metadata `json:"metadata" jsonschema:"required"`
	Spec       Spec     `json:"spec" jsonschema:"required"`
}

// Metadata names the scenario.
type Metadata struct {
	Name string `json:"name" jsonschema:"required"`
}

// Spec is the script around the manifests.
type Spec struct {
	// Title is one line for people; Story is what the scenario shows and why.
	Title string `json:"title,omitempty"`
	Story string `json:"story,omitempty"`
	// Import is of a file that ipamsim import wrote.
	Import Import `json:"import,omitzero"`
	// IPAM is the address manager. Of two with a plus between them, the first serves the
	// network that every pod gets, the second those that pods ask for.
	IPAM string `json:"ipam" jsonschema:"required"`
	// Datastore is where the manager keeps its record, if it has a choice: kubernetes
	// (default) or etcdv3.
	Datastore string `json:"datastore,omitempty" jsonschema:"enum=etcdv3,enum=kubernetes"`
	// Controllers are the controllers that create, bind and delete pods: real (default), Kubernetes' own
	// controllers and scheduler, or simple, cheaper replacements.
	Controllers string `json:"controllers,omitempty" jsonschema:"enum=simple,enum=real" unset:"real"`
	// ControlPlane is how kube-controller-manager and kube-scheduler run, if these are real.
	ControlPlane control.Plane `json:"controlPlane,omitzero"`
	// Nodes are machines that need no manifest of their own.
	Nodes []string `json:"nodes,omitempty"`
	// Until is the virtual time at which the script ends; Settle is how long the
	// cluster then rests before what only holds at rest is judged (0: it is not).
	Until  metav1.Duration `json:"until" jsonschema:"required"`
	Settle metav1.Duration `json:"settle,omitzero"`

	// MayFail: the run is judged even if actions of the timeline are without effect.
	MayFail bool `json:"mayFail,omitempty"`

	Strategy string  `json:"strategy,omitempty" unset:"timed"` // default timed
	Seed     *uint64 `json:"seed,omitempty"`                   // default 1

	// Latencies by class of message: api, watch, sandbox, annotate, start, stop, status,
	// disk, local, cloud (of managers that keep files, call a daemon, call a provider);
	// draw (a decision of ours, e.g. which pod churn deletes).
	Latencies map[string]Latency `json:"latencies,omitempty"`
	// Fabric is the network between the nodes, for a primary network whose nodes
	// announce routes: topology mesh (default), reflectors or tor.
	Fabric route.Fabric `json:"fabric,omitzero"`
	// Outside is what has addresses on the pods' network and is neither a pod nor a node:
	// the range of Services, a gateway, hosts.
	Outside     []Outside    `json:"outside,omitempty"`
	Metrics     Metrics      `json:"metrics,omitzero"`
	Reconcilers []Reconciler `json:"reconcilers,omitempty"`
	// Daemons of the address manager that run: pod-control-loop, node-slice-controller;
	// ipam-controller, tunnel-addresses. An ipam-controller that is listed twice runs twice.
	Daemons  []string `json:"daemons,omitempty"`
	Churn    []Churn  `json:"churn,omitempty"`
	Timeline []Event  `json:"timeline,omitempty"`
	Faults   Faults   `json:"faults,omitzero"`
	Hazards  Hazards  `json:"hazards,omitzero"`
	Timers   Timers   `json:"timers,omitzero"`
	Limits   Limits   `json:"limits,omitzero"`
	Judge    Judge    `json:"judge,omitzero"`
	Expect   *Expect  `json:"expect,omitempty"`

	// Schedule makes the file a finding: the recorded run it replays.
	Schedule *Schedule `json:"schedule,omitempty"`
}

// Latency of a class of message: log-normal around Median, never under Min, with
// a heavy tail.
type Latency struct {
	Min    metav1.Duration `json:"min,omitzero"`                        // binds every strategy, not only timed
	Median metav1.Duration `json:"median,omitzero" unset:"min, or 2ms"` // default: Min or 2ms
	Spread float64         `json:"spread,omitempty" unset:"0.5"`        // sigma of the logarithm; default 0.5
	Tail   float64         `json:"tail,omitempty"`                      // probability of a straggler, 0 to 1
	Slow   metav1.Duration `json:"slow,omitzero"`                       // how slow a straggler is at least
}

// Outside is what has a range of addresses, or one.
type Outside struct {
	Name    string `json:"name" jsonschema:"required"`                 // gateway
	Range   string `json:"range" jsonschema:"required"`                // 10.96.0.0/12, or an address
	Network string `json:"network,omitempty" unset:"that of all pods"` // NAMESPACE/NAME
}

// Metrics asks for measurements in virtual time.
type Metrics struct {
	Every metav1.Duration `json:"every" jsonschema:"required"`
	Show  []string        `json:"show,omitempty"` // by name; default: those that changed most
}

// Reconciler runs passes of one of the manager's reconcilers on a schedule.
type Reconciler struct {
	Name     string       `json:"name" jsonschema:"required"`
	Schedule string       `json:"schedule" jsonschema:"required"` // cron, five fields, or "@every 30s"
	Nodes    []string     `json:"nodes,omitempty"`                // one pass on each
	AllNodes bool         `json:"allNodes,omitempty"`
	Count    int          `json:"count,omitempty" unset:"1"` // concurrent passes; default 1
	Overlap  cron.Overlap `json:"overlap,omitempty" jsonschema:"enum=Allow,enum=Forbid,enum=Replace"`
}

// Churn deletes pods at a rate.
type Churn struct {
	Every    metav1.Duration `json:"every" jsonschema:"required"`
	From     metav1.Duration `json:"from,omitzero"`
	Until    metav1.Duration `json:"until,omitzero" unset:"the end of the run"`
	Workload string          `json:"workload,omitempty" unset:"any pod"` // StatefulSet/default/web; default: any pod
	Force    int             `json:"force,omitempty"`                    // of ten deletions, how many are forced
}

// Faults the schedule may inject.
type Faults struct {
	Max int `json:"max,omitempty"` // how many in a run; default 0: none
	// Allowed outcomes: fail-before, lose-reply, stale, drop, gone, crash; default: all.
	Allowed []string `json:"allowed,omitempty"`
	// Answers that fail-before and lose-reply may give: connection-lost, etcd-timeout,
	// expired, refused, reset, shutting-down, throttled, timeout and unavailable (what
	// each is: sim/README.md), and disk-full, io-error (disks), internal (clouds);
	// default: all that a message can meet.
	Answers []string `json:"answers,omitempty"`
	// Only messages that contain one of these, as the trace prints them: an actor
	// ("cni-add/default/web-0"), a verb and object ("PATCH ippools/"), or
	// both ("ipam-controller PUT ipamblocks/"). Default: all.
	Only []string `json:"only,omitempty"`
	// Rates per message, by outcome; default: drawn for each run.
	Rates map[string]float64 `json:"rates,omitempty"`
}

// Hazards are faults of machines and processes that the schedule may choose: at each time one or none,
// with a target and a duration that it chooses, too.
type Hazards struct {
	Max int `json:"max,omitempty"` // how many in a run; default 0: none
	// Kinds: crash, kill, partition, pause, pauseNode, reboot, reconcile, replace,
	// restart, restartRuntime, second; default: all that this cluster can have. These must be named:
	// clockJump, which needs the hermetic runtime; cutSession and stopBIRD, after
	// which addresses are unreachable, and disk, cloud and plugin, after which calls fail,
	// whatever the manager does.
	Kinds []string        `json:"kinds,omitempty"`
	From  metav1.Duration `json:"from,omitzero"`
	Until metav1.Duration `json:"until,omitzero" unset:"spec.until"` // all are over by then; default: spec.until
	For   metav1.Duration `json:"for,omitzero" unset:"2m"`           // the longest that one lasts; default 2m
}

// Timers of the cluster's controllers; Kubernetes' defaults where not set.
type Timers struct {
	NodeMonitorGrace metav1.Duration `json:"nodeMonitorGrace,omitzero" unset:"Kubernetes' default"`
	Toleration       metav1.Duration `json:"toleration,omitzero" unset:"Kubernetes' default"`
	SandboxRetry     metav1.Duration `json:"sandboxRetry,omitzero" unset:"Kubernetes' default"`
	APIRetry         metav1.Duration `json:"apiRetry,omitzero" unset:"1s"`
	// ContainerGC is how often a kubelet removes sandboxes that are stopped, for which the
	// runtime calls DEL twice more; default 1m, as in Kubernetes.
	ContainerGC metav1.Duration `json:"containerGC,omitzero" unset:"1m"`
	PodGC       metav1.Duration `json:"podGC,omitzero" unset:"Kubernetes' default"`
}

// Limits cut a run short that would not end; its verdict is then unknown.
type Limits struct {
	Steps   int             `json:"steps,omitempty" unset:"200000"`
	Virtual metav1.Duration `json:"virtual,omitzero" unset:"24h"`
}

// Judge holds the bounds of the invariants that need one.
type Judge struct {
	LeakAfter  metav1.Duration `json:"leakAfter,omitzero"`             // a claim may outlive its sandbox for so long; 0: judged at rest only
	StuckAfter metav1.Duration `json:"stuckAfter,omitzero" unset:"5m"` // a CNI call may take so long on a healthy node; default 5m
	// BlackholeAfter is how long an address may be unreachable while routes spread;
	// default 10s.
	BlackholeAfter metav1.Duration `json:"blackholeAfter,omitzero" unset:"10s"`
}

// Expect is the expected result of the scenario's own seed and strategy. Without it, no violation is expected.
type Expect struct {
	Violations []string `json:"violations,omitempty"` // each must be violated
	May        []string `json:"may,omitempty"`        // each may be
	// Fixed is the version of upstream from which on none of the violations happens any
	// more: v1.35.0. They stay on record for the versions before it.
	Fixed string `json:"fixed,omitempty"`
}

// With is what must be violated, and what may be, with an upstream, as Manager.Upstream
// names it. With a folder of unknown version everything may be that Fixed is about.
func (e *Expect) With(upstream string) (must, may []string) {
	if e.Fixed == "" {
		return e.Violations, e.May
	}
	_, built, _ := strings.Cut(upstream[strings.LastIndex(upstream, " ")+1:], "@")
	v, err := version.ParseGeneric(built)
	switch {
	case err != nil:
		return nil, slices.Concat(e.Violations, e.May)
	case v.AtLeast(version.MustParseGeneric(e.Fixed)):
		return nil, e.May
	}
	return e.Violations, e.May
}

// Scenario is a loaded file, checked and ready to run.
type Scenario struct {
	File     string
	Doc      Document
	Objects  []cluster.Object
	Networks []cluster.Network
	Primary  string // key of the network that every pod gets, or ""

	managers Managers                 // see Managers.Find
	doc      *strict.Doc              // the Scenario document in the file
	docs     map[identity]*strict.Doc // where each manifest stands in it

	beyondSimple error // the first thing that the simple controllers do not do; nil: there is none
	others       bool  // its controllers are not its own: see WithControllers
}

// Policies are the networks without what the plugins read: see model.SameDomain.
func (s *Scenario) Policies() []model.Network {
	out := make([]model.Network, len(s.Networks))
	for i := range s.Networks {
		out[i] = s.Networks[i].Network
	}
	return out
}

// Name of the scenario.
func (s *Scenario) Name() string { return s.Doc.Metadata.Name }
