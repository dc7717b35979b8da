package dump

import (
	"encoding/json"
	"net/netip"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/manifest"
)

// Importer imports the dumps of one address manager: data and functions, a part of its ipam.Manager (see
// ipam.Part). Title, Resources and Open are required; zero values mean that the manager does not support
// a feature.
type Importer struct {
	// Title is what people call the manager.
	Title string
	// Sign is by what a dump is its own, for a dump that is of no manager: "pool of X's"; "": none is, as
	// of a manager that is Last.
	Sign string
	// Resources are the kinds that it reads, in the order in which to read them: what
	// refers to other objects first.
	Resources []Resource
	// Groups are API groups that show the same objects; the first one counts.
	Groups []string
	// Tool is the name of the manager's own command-line tool; "": it has none. Prints is
	// what of its output can be read, each "X get -o yaml".
	Tool   string
	Prints []string
	// Marks are parts of what it prints, by which such a file is found in an archive.
	Marks []string
	// Files reports whether a file in an archive, by its path, is one of the manager's own.
	Files func(name string) bool
	// PodNotes and NodeNotes begin the names of annotations that are kept of pods and
	// namespaces, and of nodes; "": none.
	PodNotes, NodeNotes string
	// Programs are parts of the names of pods whose command lines it reads.
	Programs []string
	// Images match the images of its own pods, which show its version.
	Images []Image
	// Differences are what its older versions do otherwise, oldest first.
	Differences []Difference
	// Apart: what it hands out is no pod's, as the ranges of nodes and the addresses of
	// Services. It is judged in a scenario of its own, which has no pods; see Report.Apart.
	Apart bool
	// Balances: it assigns the addresses of Services of type LoadBalancer.
	Balances bool
	// Last: it serves pods where no other manager of the dump does. What its Doubts are is reported
	// in any case.
	Last bool
	// Bare: its scenario needs nodes alone, so that a dump in which no manager is found has one.
	Bare bool
	// Judged are the invariants that are judged in such a scenario.
	Judged []string

	// Open begins to read one dump.
	Open func(c *Cluster) *Reading
	// Written reports whether an annotation of a pod is what the manager wrote of the pod
	// that has it, and not what the pod asks for. Scenario keeps those of nodes that it
	// names.
	Written func(annotation string) bool
	// KeptOfNode reports whether an annotation of a node gets into the scenario.
	KeptOfNode func(annotation string) bool
	// NodeAddresses are annotations of nodes that hold an address of its own, with the
	// length of its subnet.
	NodeAddresses []string
	// Note is what stands in an annotation of an anonymised pod or node; "": it is left out.
	Note func(a *alias.Aliases, annotation, value string) string
	// Objects are what a thing that a violation is about may be called in a dump: KIND NAME
	// or KIND NAMESPACE/NAME. all are those that the violation is about.
	Objects func(thing model.Ref, all []model.Ref) []string
	// Check returns a read-only command that confirms a violation, with its expected output; "": there
	// is none.
	Check func(v *model.Violation) string
}

// Reading is one dump while a manager's objects are read out of it. Add, Found and Draft
// are required.
type Reading struct {
	// Add takes an object of one of the Resources. kept is false if nothing of it matters.
	Add func(h *kept.Head, raw json.RawMessage) (kept bool, err error)
	// Found reports whether the dump is of a cluster that this manager serves, by what is
	// in it.
	Found func() bool
	// Draft concludes what the objects come to, of a dump that is the manager's.
	Draft func(d *Draft) (*Record, error)

	// Document and Row take what is no object of Kubernetes': see decode.Sink.
	Document func(from Origin, raw json.RawMessage) (n int, ok bool, err error)
	Row      func(from Origin, head string, row []string) error
	// OnNode reports whether the manager serves pods of a Windows node.
	OnNode func(name string, n *kept.Node) bool
	// Concluded returns the resources, by full names, that must lack an object for a violation of the
	// record to hold.
	Concluded func(v *model.Violation, r *model.Snapshot) []string
	// Words is a violation in words that name its cause; "": none. covered: another finding reports it.
	Words func(v *model.Violation) (words string, covered bool)
	// Doubts is what cannot be judged where the manager was not found, and nothing shows that
	// the cluster does not have it.
	Doubts func(*Draft) []scenarios.Unjudged
	// PodRanges are the ranges in which the podCIDRs of nodes must lie, according to the objects of a
	// manager that leaves the addresses of pods to host-local.
	PodRanges func() []netip.Prefix
	// Versions are those that the objects say, e.g. v3.26.1.
	Versions func() []string
	// Show is the command line by which the manager's own tool shows a resource that
	// kubectl cannot show; "": kubectl can.
	Show func(r *Resource) string
	// Forget drops what only Draft needs.
	Forget func()
	// Kept is the manager's own, for its other parts: see Kept.
	Kept any
}

// Record is what the objects of one manager come to in a scenario. Claims and Write are
// required.
type Record struct {
	// Claims are the addresses that the record says are in use, in a fixed order.
	Claims func() []Claim
	// Guards are addresses that are reserved for pods beside the claims.
	Guards func() []Claim
	// Write writes the record; Settings, before the nodes, what is configured.
	Write, Settings func(w *manifest.Writer)

	// Networks are those that pods ask for by name.
	Networks []Network
	// Primary are the addresses that a pod has of the cluster's default network. down: its
	// network has been taken down. Nil: the manager serves no such network.
	Primary func(p *kept.Pod, claims []Claim) (addrs []netip.Addr, down bool)
	// Container is the sandbox that a pod runs in, by what the manager wrote; "": unknown.
	Container func(r *Running) string
	// Pods adds the pods that the manager knows itself, for a dump that has none, and takes
	// out of claims, by pod, those that are accounted for.
	Pods func(claims map[string][]Claim)
	// Nodes are those that the record names, for a dump that has none.
	Nodes func() []string
	// Settle is called when it is known which pods there are.
	Settle func()
	// Datastore is where the manager keeps its record, if it has a choice.
	Datastore string
	// Spec adds fields to the scenario's spec, NodeSpec to that of a Node.
	Spec     func(spec map[string]any)
	NodeSpec func(node string, spec map[string]any)

	// Needs returns the invariants that cannot be judged without a resource, if the dump has neither
	// an object of it nor equivalent data. Unjudged returns what else cannot be judged.
	Needs    func(r *Resource) []string
	Unjudged func() []scenarios.Unjudged

	// Found is what else is wrong, which no invariant of a run finds, with its message. A
	// violation that follows from what the dump does not have is supposed only.
	Found func() []Found

	// Names, Ranges and Rename give all that the record names other names. A manager
	// without them has no anonymised scenario.
	Names  func(n alias.Names)
	Ranges func() []string // all addresses and CIDRs, as texts
	Rename func(a *alias.Aliases) error
}

// Found is a finding of an importer.
type Found struct {
	model.Violation
	Supposed bool
}

// What several importers share; see package kept.
type (
	Claim      = kept.Claim
	Network    = kept.Network
	Image      = kept.ImageTag
	Difference = kept.Difference
)
