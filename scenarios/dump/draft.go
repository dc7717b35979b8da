package dump

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ipamsim/reports/layout"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/iproute"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/origins"
	"ipamsim/scenarios/dump/unread"
	"ipamsim/scenarios/dump/workload"
	"ipamsim/scenarios/strict"
)

// Draft is the scenario before it is written: what was read, and what had to be
// concluded because it was not.
type Draft struct {
	*Cluster
	Options Options
	Nodes   map[string]*kept.Node
	Running []Running
	// Selective: labels of namespaces matter to a manager.
	Selective bool

	spaces   map[string]*kept.Namespace
	networks []Network
	finished []Running
	waiting  []Running // without an address yet
	partly   []scenarios.Unjudged
	owning   []*workload.Controller
	foreign  map[string]bool // Windows nodes that no manager serves
	present  []*reading      // of managers that the scenario is of
	apart    bool            // the scenario has no pods
	whole    bool            // nothing contradicts that the dump has all pods

	report *Report
}

// Options of a scenario.
type Options struct {
	Name string // of the scenario; default imported
	// Anonymise replaces the names of nodes, namespaces, pods, pools and networks, and
	// the addresses of nodes. Addresses replaces those of pools and pods as well.
	Anonymise, Addresses bool

	of string // the manager of the scenario, if it is judged separately; "": all others
}

// beside reports whether the scenario is made beside another one of the same dump.
func (o *Options) beside() bool { return o.of != "" }

// Report is what became of a cluster's objects.
type Report struct {
	// Read are the kinds that were read, with their numbers; Ignored those that are not kept. Sorted.
	Read, Ignored []Count
	// Unknown is what is unknown, and what was assumed instead. Left is what was skipped.
	Unknown, Left []string
	// Unjudged is what cannot be judged for lack of objects; Versions are of the
	// managers, as far as the dump says.
	Unjudged []scenarios.Unjudged
	Versions []scenarios.Version
	Managers []Manager // that there are, by name
	NoPods   bool      // the pods were derived from claims
	// Absent are the pods that may exist although the dump lacks them, by name.
	Absent []Absent
	// Pods, Nodes and Claims of the scenario.
	Pods, Nodes, Claims int
	// Sources are the files and API servers that were read, in order.
	Sources []string
	// Apart are the scenarios of the managers that are judged apart, by name, in the order of
	// Managers. Unknown, Unjudged and Managers are theirs, too.
	Apart []*scenarios.Scenario

	supplied map[string]bool // nodes that the dump does not have
	assumed  []string        // pods that are taken to have what the record claims for them
	origins.Index
	sources []string // the files that were read
}

// Manager is an address manager of a scenario. Datastore is where it keeps its record, ""
// if it has no choice. Bare: the dump does not have it; see Importer.Bare.
type Manager struct {
	Name, Title, Datastore string
	Bare                   bool
}

// Count is how many there are of a kind.
type Count struct {
	Kind string
	N    int
}

func counts(m map[string]int) []Count {
	var out []Count
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] > 0 {
			out = append(out, Count{k, m[k]})
		}
	}
	return out
}

// Unknown says what could not be known.
func (d *Draft) Unknown(format string, args ...any) {
	d.report.Unknown = append(d.report.Unknown, fmt.Sprintf(format, args...))
}

// Left says what was left out.
func (d *Draft) Left(format string, args ...any) {
	d.report.Left = append(d.report.Left, fmt.Sprintf(format, args...))
}

// Beside reports whether pods have their addresses from a manager that another scenario of
// the same dump is of.
func (d *Draft) Beside() bool { return d.Options.beside() }

// Report adds what an importer without a scenario found wrong.
func (d *Draft) Report(f Found) { d.found = append(d.found, f) }

// Whole reports whether nothing contradicts that the dump has all pods.
func (d *Draft) Whole() bool { return d.whole }

// Doubt records what cannot be judged in a part of the cluster.
func (d *Draft) Doubt(u scenarios.Unjudged) { d.partly = append(d.partly, u) }

// Origin records where an object, KIND NAME or KIND NAMESPACE/NAME, was read.
func (d *Draft) Origin(object string, from Origin) {
	d.report.Put(object, from)
}

// draft concludes.
func (c *Cluster) draft(o Options) (*Draft, error) {
	d := &Draft{
		Cluster: c, Options: o, Nodes: map[string]*kept.Node{}, spaces: map[string]*kept.Namespace{}, foreign: map[string]bool{},
		report: &Report{Read: counts(c.Book.Read), Ignored: counts(c.ignored), supplied: map[string]bool{}, sources: c.sources},
	}
	if !o.beside() {
		if c.reported = nil; !o.Anonymise {
			c.reported = c.reports.Conflicts(c.Outputs.Own(c.Nodes.Keys(), iproute.HostOf(c.Pods)))
		}
	}
	if d.present = c.chosen(o); len(d.present) == 0 {
		return nil, &strict.Error{File: unread.Files(c.sources), Problem: c.unsupported()}
	}
	d.apart = d.present[0].importer.Apart
	if !o.beside() {
		d.readNotes()
	}
	d.copyNodes()
	for _, r := range d.present {
		var err error
		if r.record, err = r.Draft(d); err != nil {
			return nil, err
		}
		d.networks = append(d.networks, r.record.Networks...)
	}
	if !d.apart {
		d.living()
		d.namespaces()
	} else {
		d.whole = d.Absences(d.Pods, d.Cluster.Nodes, d.Namespaces).Whole()
		for key, p := range d.Pods { // conflicts of pods name them
			d.Origin("Pod "+key, p.From)
		}
	}
	d.missingNodes()
	if !o.beside() {
		d.others()
	}
	for _, r := range d.present {
		if r.record.Settle != nil {
			r.record.Settle()
		}
		if r.record.Found != nil && !o.Anonymise {
			c.found = append(c.found, r.record.Found()...)
		}
	}
	d.report.Unjudged, d.report.Versions = d.unjudged(), d.versionsOf()
	if o.Anonymise {
		if err := d.anonymise(); err != nil {
			return nil, err
		}
	}
	d.owned()
	d.reportPlaces()
	for _, r := range d.present {
		d.report.Managers = append(d.report.Managers, Manager{r.manager.Name, r.importer.Title, r.record.Datastore, !r.Found()})
		d.report.Call(r.importer.Objects)
	}
	if !o.Anonymise {
		d.report.Sources = slices.Clone(c.sources)
	}
	d.report.Pods, d.report.Nodes, d.report.Claims = len(d.Running), len(d.Nodes), len(d.claims())
	return d, nil
}

func (d *Draft) namespaces() {
	for _, key := range d.Namespaces.Keys() {
		n := d.Namespaces[key].Value
		d.spaces[key] = &n
		d.Origin("Namespace "+key, d.Namespaces[key].From)
	}
}

// unsupported renders what is missing in a dump of no known manager, and what it has.
func (c *Cluster) unsupported() string {
	var signs []string
	for _, r := range c.readings {
		if r.importer.Sign != "" {
			signs = append(signs, r.importer.Sign)
		}
	}
	var have []string
	for _, x := range counts(c.Book.Read) {
		have = append(have, fmt.Sprintf("%d %s", x.N, x.Kind))
	}
	if len(have) == 0 {
		have = []string{"text"}
	}
	return "no " + strings.Join(signs, ", no ") + ", only " + layout.Some(have) + ": want the output of the command that ipamsim import --print-dump-command prints"
}

// titles are those of the present managers that are such.
func (d *Draft) titles(such func(*reading) bool) string {
	var out []string
	for _, r := range d.present {
		if such(r) {
			out = append(out, r.importer.Title)
		}
	}
	return strings.Join(out, " and ")
}

// claims are all of the records, by manager.
func (d *Draft) claims() []Claim {
	var out []Claim
	for _, r := range d.present {
		out = append(out, r.record.Claims()...)
	}
	return out
}

// readNotes reports what happened while reading.
func (d *Draft) readNotes() {
	c := d.Cluster
	if len(c.Newer) > 0 && d.Options.Anonymise {
		d.Left("the older versions of %s that occurred twice", layout.Plural(len(c.Newer), "object"))
	} else {
		for _, s := range c.Newer {
			d.Left("%s", s)
		}
	}
	d.report.Unknown = append(d.report.Unknown, c.Ledger.Unknown(d.Options.Anonymise)...)
	d.report.Left = append(d.report.Left, c.Ledger.Left(d.Options.Anonymise)...)
	if len(c.versions) > 1 {
		all := slices.Sorted(maps.Keys(c.versions))
		d.Unknown("the lists were not read at one instant: there are %d changes of the cluster between the first and the last (resourceVersion %d to %d)", all[len(all)-1]-all[0], all[0], all[len(all)-1])
	}
}

// others reports the kinds that are not kept.
func (d *Draft) others() {
	var all []string
	for _, c := range d.report.Ignored {
		all = append(all, fmt.Sprintf("%d %s", c.N, c.Kind))
	}
	if len(all) > 0 {
		d.Left("objects of kinds that are not read: %s", strings.Join(all, ", "))
	}
}

func (d *Draft) copyNodes() {
	var sick, silent []string
	windows := 0
	for _, name := range d.Cluster.Nodes.Keys() {
		n := d.Cluster.Nodes[name].Value
		if n.Windows && !slices.ContainsFunc(d.present, func(r *reading) bool { return r.OnNode != nil && r.OnNode(name, &n) }) {
			d.foreign[name] = true
			continue
		}
		if n.Windows {
			windows++
		}
		d.Nodes[name] = &n
		d.Origin("Node "+name, d.Cluster.Nodes[name].From)
		switch {
		case n.Unheard:
			silent = append(silent, name)
		case n.NotReady:
			sick = append(sick, name)
		}
	}
	if d.Options.beside() {
		return // reported with the other scenario
	}
	if n := len(d.foreign); n > 0 {
		d.Left("%s without %s", layout.Plural(n, "Windows node"), d.servers())
	}
	if windows > 0 {
		d.Unknown("behaviour on Windows: %s simulated as if running Linux", layout.Count(windows, "node is", "nodes are"))
	}
	if len(silent) > 0 {
		d.Unknown("the state of %s (no heartbeat): assumed to be off, and its pods in the dump to be stopped", d.Some(silent))
	}
	if len(sick) > 0 {
		d.Unknown("the state of nodes that are not Ready, %s: assumed to run, with all their pods in the dump", d.Some(sick))
	}
}

// servers are the managers that could serve a Windows node.
func (d *Draft) servers() string {
	if s := d.titles(func(r *reading) bool { return r.OnNode != nil }); s != "" {
		return s
	}
	return d.titles(func(*reading) bool { return true })
}

// missingNodes adds those on which pods run.
func (d *Draft) missingNodes() {
	var added []string
	add := func(name string) {
		if name != "" && d.Nodes[name] == nil {
			d.Nodes[name] = &kept.Node{}
			added = append(added, name)
			d.report.supplied[name] = true
		}
	}
	for _, p := range slices.Concat(d.Running, d.finished, d.waiting) {
		add(p.Node)
	}
	d.unseenNodes(add)
	switch slices.Sort(added); {
	case len(added) == 0:
	case len(d.Cluster.Nodes) == 0:
		d.Unknown("no nodes in the dump: taken from pods and blocks, %s, with made-up addresses", d.Some(added))
	default:
		d.Unknown("pods or records name %s without a Node in the dump: added, with made-up addresses", d.Some(added))
	}
}

// Some lists names; of many, the first few; of replaced names, only their number.
func (d *Draft) Some(names []string) string {
	if d.Options.Anonymise {
		return fmt.Sprintf("%d of them", len(names))
	}
	return layout.Some(names)
}

// network is the attached network of a key, nil if no manager serves it.
func (d *Draft) network(key string) *Network {
	if i := slices.IndexFunc(d.networks, func(n Network) bool { return n.Key == key }); i >= 0 {
		return &d.networks[i]
	}
	return nil
}
