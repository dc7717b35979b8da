// Package dump converts dumps of a cluster to a scenario: the output of kubectl and of the tools
// of address managers, in any order and any number of files.
//
// A Cluster takes objects one by one, keeps the fields that matter to an address manager, and
// drops the rest immediately: environment variables, images and secrets go no further. Its
// Scenario is a file whose initial state is that cluster, with a Report of what is unknown and
// what was skipped.
//
// Everything specific to one manager is in its Importer, a part of its ipam.Manager: which kinds
// to read, whether a dump is of this manager, which addresses are in use.
package dump

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/dump/evidence"
	"ipamsim/scenarios/dump/iproute"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/reported"
	"ipamsim/scenarios/dump/resource"
	"ipamsim/scenarios/dump/unread"
	"ipamsim/scenarios/dump/unsupported"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/ipam"
)

// Origin is where an object was read, Progress how far a file has been read.
type (
	Origin   = decode.Origin
	Progress = decode.Progress
)

// Cluster is what is known of a cluster so far. Objects are added one at a time,
// by Read from files and by Add from anywhere else.
type Cluster struct {
	*kept.Store
	unread.Ledger
	iproute.Outputs
	*evidence.Book
	Pods       kept.Objects[kept.Pod]
	Nodes      kept.Objects[kept.Node]
	Namespaces kept.Objects[kept.Namespace]
	workloads  kept.Objects[kept.Workload] // by KIND NAMESPACE/NAME

	managers  []*ipam.Manager
	readings  []*reading
	resources []Resource

	images   map[string]map[string]int // tags of the managers' images, by manager
	sources  []string                  // files, in the order in which they were read
	ignored  map[string]int            // objects that are not kept, by kind
	versions map[uint64]bool

	unjudged []scenarios.Unjudged // by the scenario that was made last
	reports  reported.Cluster
	reported []model.Violation
	missing  []Absent
	absent   map[string]bool // their pods, and those that were assumed to have an address
	found    []Found
	judged   map[string]bool // managers, by name
	supplied map[string]bool // nodes that the dump does not have
	masked   bool            // names are replaced
}

// reading is one manager's.
type reading struct {
	*Reading
	manager  *ipam.Manager
	importer *Importer
	record   *Record // in a draft
}

// New returns an empty cluster. The managers are those that it may have.
func New(managers []*ipam.Manager) *Cluster {
	c := &Cluster{
		Pods: kept.Objects[kept.Pod]{}, Nodes: kept.Objects[kept.Node]{}, Namespaces: kept.Objects[kept.Namespace]{}, workloads: kept.Objects[kept.Workload]{},
		images: map[string]map[string]int{}, ignored: map[string]int{}, versions: map[uint64]bool{},
	}
	c.Store, c.reports = kept.NewStore(c.leading), reported.New(c.Pods, c.Nodes)
	c.managers, c.resources = managers, Resources(managers)
	c.Book = evidence.NewBook(resource.Listed(c.resources), c.sameGroup, c.Impaired)
	for _, m := range importable(managers) {
		i, _ := ipam.Part[*Importer](m)
		c.readings = append(c.readings, &reading{Reading: i.Open(c), manager: m, importer: i})
	}
	return c
}

// importable are the managers that have an importer, by name.
func importable(all []*ipam.Manager) []*ipam.Manager {
	all = slices.DeleteFunc(slices.Clone(all), func(m *ipam.Manager) bool { _, ok := ipam.Part[*Importer](m); return !ok })
	slices.SortFunc(all, func(a, b *ipam.Manager) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Reported are the conflicts that pods, nodes and networks show by themselves. They are known
// after Scenario, of a scenario that is not anonymised.
func (c *Cluster) Reported() []model.Violation { return c.reported }

// Managers are those that the cluster may have and that have an importer, by name.
func (c *Cluster) Managers() []*ipam.Manager { return importable(c.managers) }

// KeptOf is what the reading of a manager keeps for its other parts: the Reading.Kept of
// that type. ok is false if there is none.
func KeptOf[T any](c *Cluster) (kept T, ok bool) {
	for _, r := range c.readings {
		if kept, ok = r.Kept.(T); ok {
			return kept, true
		}
	}
	return kept, false
}

// Read takes everything that a file holds, as unread.Ledger does. The error is a
// *strict.Error, one line with file and line. What could be read stays in the cluster.
func (c *Cluster) Read(name string, r io.Reader, progress func(Progress)) error {
	c.Source(name)
	return c.ReadPart(name, r, progress)
}

// ReadPart reads a file of a folder or of an archive, whose name is the Source.
func (c *Cluster) ReadPart(name string, r io.Reader, progress func(Progress)) error {
	to := c.sink(progress)
	to.Object, to.List, to.Count = c.Add, c.ended, c.Counted
	return c.Ledger.Read(name, r, to)
}

// Objects reads the input of Read and passes each object to each instead of keeping it, in the
// order of the file: as JSON, with the kind of its list if it has none of its own. Other input is
// skipped. It returns the error of each, or a *strict.Error.
func Objects(managers []*ipam.Manager, name string, r io.Reader, progress func(Progress), each func(from Origin, raw json.RawMessage) error) error {
	to := New(managers).sink(progress)
	to.Object, to.Whole = each, true
	return decode.Read(name, r, to)
}

// sink takes what is no object.
func (c *Cluster) sink(progress func(Progress)) decode.Sink {
	to := decode.Sink{Progress: progress, Document: c.document, Row: c.row}
	for _, r := range c.readings {
		to.Programs = append(to.Programs, r.importer.Programs...)
		if !r.importer.Apart {
			to.Programs = append(to.Programs, r.manager.Name)
		}
		if r.importer.Tool != "" {
			to.Tools = append(to.Tools, r.importer.Tool)
		}
	}
	return to
}

func (c *Cluster) document(from Origin, raw json.RawMessage) (n int, ok bool, err error) {
	for _, r := range c.readings {
		if r.Document != nil {
			if n, ok, err = r.Document(from, raw); ok || err != nil {
				return n, ok, err
			}
		}
	}
	return 0, false, nil
}

func (c *Cluster) row(from Origin, head string, row []string) error {
	for _, r := range c.readings {
		if r.Row != nil {
			if err := r.Row(from, head, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// Add takes one object as JSON, with apiVersion and kind. Of a kind that says
// nothing about addresses only the number is kept. The error is a
// *strict.Error: one line.
func (c *Cluster) Add(from Origin, raw json.RawMessage) error {
	h := &kept.Head{From: from}
	if err := json.Unmarshal(raw, h); err != nil {
		return h.Fail("", "not a Kubernetes object: %s", decode.OneLine(err))
	}
	if h.Kind == "" {
		return h.Fail("", "no apiVersion and kind: want the output of %s", c.printers())
	}
	if err := unsupported.Ours(h); err != nil {
		return err
	}
	name := evidence.Key(h.Kind, h.Group())
	c.Book.Read[name]++
	add := c.takers(h)
	if len(add) == 0 {
		if ok, err := c.Witness(h, raw); err != nil {
			return h.Fail("", "%s", decode.OneLine(err))
		} else if !ok {
			c.ignored[name]++
		}
		return nil
	}
	if err := h.Legible(raw); err != nil {
		return err
	}
	for _, m := range []struct{ field, name string }{{"name", h.Metadata.Name}, {"namespace", h.Metadata.Namespace}} {
		if len(m.name) > 253 || m.name != "" && !objectName.MatchString(m.name) {
			return h.From.Fail(h.Kind, "metadata."+m.field, "%s is not a valid Kubernetes name", strict.Quote(m.name))
		}
	}
	kept := false
	for _, f := range add {
		this, err := f(h, raw)
		if bad := (*strict.Error)(nil); err != nil && !errors.As(err, &bad) {
			return h.Fail("", "%s", decode.OneLine(err))
		} else if err != nil {
			return err
		}
		kept = kept || this
	}
	if !kept {
		c.ignored[name]++
	}
	return nil
}

// printers are the commands that print objects, in words.
func (c *Cluster) printers() string {
	all := []string{"kubectl get -o yaml"}
	for _, r := range c.readings {
		if r.importer.Tool != "" {
			all = append(all, r.importer.Tool+" get -o yaml")
		}
	}
	return strings.Join(all, " or ")
}

// objectName is what the API server takes for a name of these kinds.
//
// Source: k8s.io/apimachinery/pkg/util/validation, IsDNS1123Subdomain; an IPAddress is
// called as its address is, with colons.
var objectName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.:]*[a-z0-9])?$`)

// Forget drops what was needed for Scenario only: of a large cluster nearly all. The
// search for findings needs the rest. Nothing can be added afterwards.
func (c *Cluster) Forget() {
	for _, p := range c.Pods {
		p.Value = kept.Pod{Node: p.Value.Node, HostNetwork: p.Value.HostNetwork, Owner: p.Value.Owner, Phase: p.Value.Phase, Affine: p.Value.Affine} // its owner and placement
	}
	for _, n := range c.Nodes {
		n.Value = kept.Node{Cordoned: n.Value.Cordoned, Labels: n.Value.Labels, Taints: n.Value.Taints}
	}
	for _, r := range c.readings {
		if r.Forget != nil {
			r.Forget()
		}
	}
	c.Namespaces = nil
	c.Store.Forget()
}
