package dump

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ipamsim/model/route"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
)

// draft is the scenario before it is written: what was read, and what had to be
// concluded because it was not.
type draft struct {
	*Cluster
	o Options

	calico, ranges bool // which managers there are
	datastore      string
	fabric         route.Fabric
	fam            families

	nodes      map[string]*node
	blocks     map[string]*blockSpec
	pools      map[string]*poolSpec
	affinities []affinitySpec
	handles    map[string]*handleSpec
	config     *configSpec
	reserving  map[string]*reservationSpec
	spaces     map[string]*namespace
	networks   []network
	ranged     map[string]*rangePool
	sliced     map[string]*slicePool
	reserved   map[string]*rangeReservation
	running    []running
	finished   []running
	waiting    []running // without an address yet
	partly     []scenarios.Unjudged
	owning     []*controller
	foreign    map[string]bool // Windows nodes that Calico does not run on

	report *Report
}

// Options of a scenario.
type Options struct {
	Name string // of the scenario; default imported
	// Anonymise replaces the names of nodes, namespaces, pods, pools and networks, and
	// the addresses of nodes. Addresses replaces those of pools and pods as well.
	Anonymise, Addresses bool
}

// Report is what became of a cluster's objects.
type Report struct {
	// Read are the kinds that were read, with their numbers; Ignored those of which
	// nothing was kept. Sorted.
	Read, Ignored []Count
	// Unknown says what could not be known, and what was assumed instead. Left says
	// what was left out.
	Unknown, Left []string
	// Unjudged is what cannot be judged for lack of objects; Versions are of the
	// managers, as far as the dump says.
	Unjudged []scenarios.Unjudged
	Versions []scenarios.Version
	// Calico, Whereabouts: which address managers there are. Datastore is Calico's.
	Calico, Whereabouts bool
	Datastore           string
	NoPods              bool // who lives was concluded from who claims
	// Pods, Nodes and Claims of the scenario.
	Pods, Nodes, Claims int
	// Origins of objects, by KIND NAMESPACE/NAME as a strict.Error names them.
	origins map[string]Origin
	byName  map[string][]string // those by KIND NAME, without namespaces: see named
	sources []string            // the files that were read
	// Sources are the files and API servers that were read, in order.
	Sources []string
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

func (d *draft) unknown(format string, args ...any) {
	d.report.Unknown = append(d.report.Unknown, fmt.Sprintf(format, args...))
}

func (d *draft) left(format string, args ...any) {
	d.report.Left = append(d.report.Left, fmt.Sprintf(format, args...))
}

// draft concludes.
func (c *Cluster) draft(o Options) (*draft, error) {
	d := &draft{
		Cluster: c, o: o, nodes: map[string]*node{}, blocks: map[string]*blockSpec{}, pools: map[string]*poolSpec{},
		handles: map[string]*handleSpec{}, reserved: map[string]*rangeReservation{}, reserving: map[string]*reservationSpec{},
		spaces: map[string]*namespace{}, ranged: map[string]*rangePool{}, sliced: map[string]*slicePool{}, foreign: map[string]bool{},
		report: &Report{Read: counts(c.read), Ignored: counts(c.ignored), origins: map[string]Origin{}, sources: c.sources},
	}
	d.calico = len(c.pools)+len(c.blocks)+len(c.tables.pools)+len(c.tables.blocks) > 0
	d.ranges = len(c.rangePools)+len(c.attachments) > 0
	if !d.calico && !d.ranges {
		return nil, &strict.Error{File: filesOf(c.sources), Problem: "no pool of Calico's or Whereabouts' and no network of Whereabouts': want e.g. kubectl get ippools,ipamblocks,blockaffinities,ipamhandles,ipamconfigs,nodes,pods -A -o yaml"}
	}
	if len(c.newer) > 0 && o.Anonymise {
		d.left("the older of %s that were there twice", plural(len(c.newer), "object", "objects"))
	} else {
		for _, s := range c.newer {
			d.left("%s", s)
		}
	}
	for _, s := range c.unread {
		d.unknown("%s", s)
	}
	if len(c.versions) > 1 {
		all := slices.Sorted(maps.Keys(c.versions))
		d.unknown("the lists are not of one instant: %d changes of the cluster lie between the first and the last (resourceVersion %d to %d)", all[len(all)-1]-all[0], all[0], all[len(all)-1])
	}
	d.copyNodes()
	if d.calico {
		d.record()
	}
	if d.ranges {
		d.attached()
		d.reservedRanges()
	}
	if err := d.living(); err != nil {
		return nil, err
	}
	d.missingNodes()
	d.others()
	for _, key := range c.namespaces.keys() {
		n := c.namespaces[key].value
		d.spaces[key] = &n
		d.origin("Namespace "+key, c.namespaces[key].from)
	}
	if d.calico {
		d.settings()
	}
	d.report.Unjudged, d.report.Versions = d.unjudged(), d.versions()
	c.unjudged = d.report.Unjudged
	if o.Anonymise {
		if err := d.anonymise(); err != nil {
			return nil, err
		}
	}
	d.owned()
	d.tellPlaces()
	d.report.Calico, d.report.Whereabouts, d.report.Datastore = d.calico, d.ranges, d.datastore
	if !o.Anonymise {
		d.report.Sources = slices.Clone(c.sources)
	}
	d.report.Pods, d.report.Nodes, d.report.Claims = len(d.running), len(d.nodes), len(d.claimsOf())
	return d, nil
}

// others says what became of kinds of which nothing is kept.
func (d *draft) others() {
	var all []string
	for _, c := range d.report.Ignored {
		all = append(all, fmt.Sprintf("%d %s", c.N, c.Kind))
	}
	if len(all) > 0 {
		d.left("of other kinds everything: %s", strings.Join(all, ", "))
	}
}

func (d *draft) copyNodes() {
	var sick, silent []string
	windows := 0
	for _, name := range d.Cluster.nodes.keys() {
		n := d.Cluster.nodes[name].value
		if n.Windows && len(n.Annotations) == 0 && !d.claimsBy(name) {
			d.foreign[name] = true
			continue
		}
		if n.Windows {
			windows++
		}
		d.nodes[name] = &n
		d.origin("Node "+name, d.Cluster.nodes[name].from)
		switch {
		case n.Unheard:
			silent = append(silent, name)
		case n.NotReady:
			sick = append(sick, name)
		}
	}
	if n := len(d.foreign); n > 0 {
		d.left("%s without Calico", plural(n, "Windows node", "Windows nodes"))
	}
	if windows > 0 {
		d.unknown("what is different on Windows: %s simulated as if it ran Linux", plural(windows, "node is", "nodes are"))
	}
	if len(silent) > 0 {
		d.unknown("nothing is heard of %s: taken to be off, and the pods that the dump has on it to be dead", d.some(silent))
	}
	if len(sick) > 0 {
		d.unknown("nodes that are not Ready, %s: taken for running, with all pods that the dump has on them", d.some(sick))
	}
}

// claimsBy reports whether Calico's record names a node as an owner of blocks.
func (d *draft) claimsBy(name string) bool {
	for _, a := range d.Cluster.affinities {
		if a.value.Node == name {
			return true
		}
	}
	return false
}

// missingNodes adds those on which pods run.
func (d *draft) missingNodes() {
	var added []string
	add := func(name string) {
		if name != "" && d.nodes[name] == nil {
			d.nodes[name] = &node{}
			added = append(added, name)
		}
	}
	for _, p := range slices.Concat(d.running, d.finished, d.waiting) {
		add(p.Node)
	}
	if len(d.Cluster.nodes) == 0 { // who has a block is a node, as far as one can tell
		for _, a := range d.affinities {
			if a.Type == "host" {
				add(a.Node)
			}
		}
	}
	switch slices.Sort(added); {
	case len(added) == 0:
	case len(d.Cluster.nodes) == 0:
		d.unknown("no nodes in the dump: they are those that pods and blocks name, %s, with addresses made up", d.some(added))
	default:
		d.unknown("pods run on %s, of which the dump has no Node: added, with addresses made up", d.some(added))
	}
}

func (d *draft) origin(object string, from Origin) {
	if _, ok := d.report.origins[object]; !ok {
		d.report.origins[object] = from
	}
}

func (d *draft) blockKeys() []string { return slices.Sorted(maps.Keys(d.blocks)) }

func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func sortBy[T any](s []T, cmp func(a, b T) int) { slices.SortFunc(s, cmp) }

// some lists names, the first few of many; of those that are replaced only how many
// there are.
func (d *draft) some(names []string) string {
	if d.o.Anonymise {
		return fmt.Sprintf("%d of them", len(names))
	}
	return some(names)
}

func some(names []string) string {
	const shown = 3
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// plural is a number of things.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
