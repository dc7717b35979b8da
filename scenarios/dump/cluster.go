// Package dump makes a scenario of what an operator can dump of a cluster: what
// kubectl and calicoctl print, in any mixture and any number of files.
//
// A Cluster takes objects one by one, keeps of each what matters to an address
// manager, and drops the rest at once: environment variables, images and
// secrets never get further. Its Scenario is a file whose initial state is that
// cluster, with a Report of what could not be known and what was left out.
package dump

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
)

// Cluster is what is known of a cluster so far. Objects are added one at a time,
// by Read from files and by Add from anywhere else.
type Cluster struct {
	pods       kept[pod]
	nodes      kept[node]
	namespaces kept[namespace]
	endpoints  kept[endpoint] // WorkloadEndpoints, by namespace/pod
	workloads  kept[workload] // by KIND NAMESPACE/NAME

	pools        kept[poolSpec] // Calico's
	reservations kept[reservationSpec]
	blocks       kept[blockSpec]
	affinities   kept[affinitySpec] // by host and block
	handles      kept[handleSpec]
	config       kept[configSpec]
	controllers  kept[string] // leakGracePeriod of each KubeControllersConfiguration
	families     kept[families]
	bgp          kept[bgpSpec]
	peers        kept[peerSpec]

	attachments   kept[string] // configuration of each NetworkAttachmentDefinition
	rangePools    kept[rangePool]
	rangeReserved kept[rangeReservation]
	slicePools    kept[slicePool]
	cronJobs      kept[json.RawMessage] // those that run ip-reconciler

	information kept[string]              // calicoVersion of each ClusterInformation
	images      map[string]map[string]int // tags of the managers' images, by program

	tables tables

	sources  []string        // files, in the order in which they were read
	read     map[string]int  // objects by kind, as they came
	ignored  map[string]int  // of which nothing is kept, by kind
	complete map[string]bool // kinds of which all objects were looked for
	lists    int             // that were read to their ends
	podLists map[podList]bool
	versions map[uint64]bool
	newer    []string // objects that were there twice
	unread   []string // lists that nobody could read, with the reason
	etcd     bool     // something came out of Calico's etcd datastore
	kdd      bool     // something of Calico's came as custom resources
	words    map[string]string

	unjudged []scenarios.Unjudged // by the scenario that was made last
}

// New is a cluster of which nothing is known.
func New() *Cluster {
	return &Cluster{
		pods: kept[pod]{}, nodes: kept[node]{}, namespaces: kept[namespace]{}, endpoints: kept[endpoint]{},
		workloads: kept[workload]{}, images: map[string]map[string]int{}, information: kept[string]{},
		pools: kept[poolSpec]{}, reservations: kept[reservationSpec]{}, blocks: kept[blockSpec]{}, affinities: kept[affinitySpec]{},
		handles: kept[handleSpec]{}, config: kept[configSpec]{}, controllers: kept[string]{}, families: kept[families]{},
		bgp: kept[bgpSpec]{}, peers: kept[peerSpec]{},
		attachments: kept[string]{}, rangePools: kept[rangePool]{}, rangeReserved: kept[rangeReservation]{},
		slicePools: kept[slicePool]{}, cronJobs: kept[json.RawMessage]{},
		tables: newTables(), read: map[string]int{}, ignored: map[string]int{}, complete: map[string]bool{}, podLists: map[podList]bool{}, versions: map[uint64]bool{}, words: map[string]string{},
	}
}

// Origin is where an object was read.
type Origin struct {
	File string
	Line int // from 1; 0: not known
}

func (o Origin) String() string {
	if o.Line == 0 {
		return o.File
	}
	return o.File + ":" + strconv.Itoa(o.Line)
}

func (o Origin) fail(object, field, format string, args ...any) *strict.Error {
	return &strict.Error{File: o.File, Line: o.Line, Object: object, Field: field, Problem: fmt.Sprintf(format, args...)}
}

// head is what every object has.
type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name              string            `json:"name"`
		Namespace         string            `json:"namespace"`
		ResourceVersion   string            `json:"resourceVersion"`
		Labels            map[string]string `json:"labels"`
		Annotations       map[string]string `json:"annotations"`
		DeletionTimestamp *string           `json:"deletionTimestamp"`
		OwnerReferences   []reference       `json:"ownerReferences"`
	} `json:"metadata"`

	from Origin
}

// group is the API group without its version; "" for the core group.
func (h *head) group() string { return groupOf(h.APIVersion) }

// object names it for people: KIND NAMESPACE/NAME.
func (h *head) object() string { return strings.TrimSuffix(h.Kind+" "+h.key(), " ") }

func (h *head) key() string {
	if h.Metadata.Namespace == "" {
		return h.Metadata.Name
	}
	return h.Metadata.Namespace + "/" + h.Metadata.Name
}

func (h *head) fail(field, format string, args ...any) *strict.Error {
	return h.from.fail(h.object(), field, format, args...)
}

// Add takes one object as JSON, with apiVersion and kind. Of a kind that says
// nothing about addresses only the number is kept. The error is a
// *strict.Error: one line.
func (c *Cluster) Add(from Origin, raw json.RawMessage) error {
	h := &head{from: from}
	if err := json.Unmarshal(raw, h); err != nil {
		return h.fail("", "not an object as Kubernetes has them: %s", oneLine(err))
	}
	if h.Kind == "" {
		return h.fail("", "no apiVersion and kind: want what kubectl get -o yaml or calicoctl get -o yaml prints")
	}
	if err := h.ours(); err != nil {
		return err
	}
	name := kindKey(h.Kind, h.group())
	c.read[name]++
	add := reader(h)
	if add == nil {
		c.ignored[name]++
		return nil
	}
	if h.Metadata.Name == "" {
		return h.fail("metadata.name", "missing")
	}
	for _, m := range []struct{ field, name string }{{"name", h.Metadata.Name}, {"namespace", h.Metadata.Namespace}} {
		if len(m.name) > 253 || m.name != "" && !objectName.MatchString(m.name) {
			return h.from.fail(h.Kind, "metadata."+m.field, "%s is no name that Kubernetes gives", strict.Quote(m.name))
		}
	}
	err := add(c, h, raw)
	var bad *strict.Error
	if err != nil && !errors.As(err, &bad) {
		return h.fail("", "%s", oneLine(err))
	}
	return err
}

// objectName is what the API server takes for a name of these kinds.
//
// Source: k8s.io/apimachinery/pkg/util/validation, IsDNS1123Subdomain.
var objectName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)

// kept are the objects of one kind, by namespace/name.
type kept[T any] map[string]*item[T]

type item[T any] struct {
	value   T
	from    Origin
	version uint64 // resourceVersion, 0: not known
	group   string
}

func (k kept[T]) keys() []string { return slices.Sorted(maps.Keys(k)) }

// put keeps an object. One that is there already is taken once; of two that
// differ the newer one counts, and it is said; if neither is newer it is an error.
func put[T any](c *Cluster, all kept[T], key string, h *head, value T) error {
	n := &item[T]{value: value, from: h.from, version: version(h.Metadata.ResourceVersion), group: h.group()}
	old := all[key]
	if old == nil {
		all[key] = n
		return nil
	}
	if reflect.DeepEqual(old.value, n.value) {
		return nil
	}
	if n.group != old.group { // one object, as kubectl and as calicoctl show it
		if n.group == calicoGroup {
			all[key] = n
		}
		return nil
	}
	newer := cmp.Compare(n.version, old.version)
	if newer == 0 || n.version == 0 || old.version == 0 {
		return h.fail("", "is in %s as well, with another content, and neither is newer: leave one out", old.from)
	}
	if newer < 0 {
		n, old = old, n
	}
	all[key] = n
	c.newer = append(c.newer, fmt.Sprintf("%s as it is in %s, %s has a newer one", h.object(), old.from, n.from))
	return nil
}

// version is a resourceVersion as a number, 0 if it is none. Calico's client puts
// two of them into one.
func version(s string) uint64 {
	s, _, _ = strings.Cut(s, "/")
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}

// word keeps one copy of a text that many objects share.
func (c *Cluster) word(s string) string {
	if w, ok := c.words[s]; ok {
		return w
	}
	w := strings.Clone(s)
	c.words[w] = w
	return w
}

func (c *Cluster) labels(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[c.word(k)] = c.word(v)
	}
	return out
}
