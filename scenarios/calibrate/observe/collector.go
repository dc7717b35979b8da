package observe

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/strict"
)

// Bounds of what is kept: far beyond what one cluster has in a year.
const (
	podsMax  = 5_000_000
	nodesMax = 100_000
	scansMax = 2_000_000
)

// Collector takes files.
type Collector struct {
	managers scenarios.Managers // whose tools print objects, too

	pods   int
	byUID  map[string]*podRecord
	named  map[string][]*podRecord // all that have had a name, by namespace/name
	nodes  map[string]*nodeRecord
	logged []statement // from logs: sorted before they are applied

	scans    map[int64]bool // instants of listings of pods, Unix nanoseconds
	nodeSeen map[int64]bool // of nodes
	logs     []Window       // times with a log of each change of a pod
	windows  [aspects]Window
	maxPods  map[int]bool
	words    map[string]string
	counts   map[NoteKind]int
	names    map[NoteKind][]string

	restarts   int
	restartsOf time.Duration
}

// podRecord is what has been seen of a pod so far.
type podRecord struct {
	uid, namespace, name string
	node                 string
	owner                Owner
	host                 bool
	born                 time.Time
	watched              bool      // a log shows its birth
	first, last          time.Time // known to run
	died                 time.Time // its object went, exactly
	finished             time.Time // its containers have ended, exactly
	overBy               time.Time // they had ended then
}

// nodeRecord is what has been seen of a node so far.
type nodeRecord struct {
	name        string
	born        time.Time
	first, last time.Time
	died        time.Time
	cordons     changes
	silences    changes
}

// changes are observed states and logged changes of a state.
type changes []change

type change struct {
	at   time.Time
	on   bool
	scan bool // the state was observed; otherwise it changed
}

// NewCollector knows nothing. Output of the tools of these managers may lie in the files.
func NewCollector(managers scenarios.Managers) *Collector {
	return &Collector{
		managers: managers,
		byUID:    map[string]*podRecord{}, named: map[string][]*podRecord{}, nodes: map[string]*nodeRecord{},
		scans: map[int64]bool{}, nodeSeen: map[int64]bool{}, maxPods: map[int]bool{}, words: map[string]string{}, counts: map[NoteKind]int{}, names: map[NoteKind][]string{},
	}
}

// fail is a mistake of a file.
func fail(from dump.Origin, object, field, format string, args ...any) error {
	return &strict.Error{File: from.File, Line: from.Line, Object: object, Field: field, Problem: fmt.Sprintf(format, args...)}
}

// years that a time may lie in: what lies elsewhere was never meant.
var (
	earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// statement is a fact about a pod from a log.
type statement struct {
	at              time.Time
	uid             string
	namespace, name string
	node            string
	owner           Owner
	host            bool
	ends, over      bool      // its object goes, or its containers have ended; otherwise it comes
	born            time.Time // if known
	from            dump.Origin
}

const statementsMax = 20_000_000

// says remembers a statement.
func (c *Collector) says(s statement) error {
	if len(c.logged) >= statementsMax {
		return fail(s.from, "", "", "more than %d creations and deletions", statementsMax)
	}
	c.logged = append(c.logged, s)
	return nil
}

// credible refuses times of other centuries.
func credible(from dump.Origin, object, field string, t time.Time) error {
	if t.Before(earliest) || t.After(latest) {
		return fail(from, object, field, "%s: want a time between %d and %d", t.UTC().Format(time.RFC3339), earliest.Year(), latest.Year())
	}
	return nil
}

// pod finds or adds the one that a listing names: by its UID, and where there is none
// by its name and the time of its creation.
func (c *Collector) pod(from dump.Origin, uid, namespace, name string, born time.Time) (*podRecord, error) {
	key := namespace + "/" + name
	if s := c.byUID[uid]; s != nil && uid != "" {
		return s, nil
	}
	for _, s := range c.named[key] {
		if (uid == "" || s.uid == "") && (born.IsZero() || s.born.IsZero() || near(born, s.born)) {
			if s.uid == "" && uid != "" {
				s.uid = strings.Clone(uid)
				c.byUID[s.uid] = s
			}
			return s, nil
		}
	}
	return c.add(from, uid, namespace, name)
}

// near are two statements of when a pod was created: its creation, or its binding to a
// node.
func near(a, b time.Time) bool { return a.Sub(b).Abs() <= 2*time.Minute }

func (c *Collector) add(from dump.Origin, uid, namespace, name string) (*podRecord, error) {
	if c.pods >= podsMax {
		return nil, fail(from, "", "", "more than %d pods", podsMax)
	}
	c.pods++
	s := &podRecord{uid: strings.Clone(uid), namespace: strings.Clone(namespace), name: strings.Clone(name)}
	key := s.namespace + "/" + s.name
	c.named[key] = append(c.named[key], s)
	if uid != "" {
		c.byUID[s.uid] = s
	}
	return s, nil
}

func (c *Collector) node(from dump.Origin, name string) (*nodeRecord, error) {
	n := c.nodes[name]
	if n == nil {
		if len(c.nodes) >= nodesMax {
			return nil, fail(from, "", "", "more than %d nodes", nodesMax)
		}
		n = &nodeRecord{name: strings.Clone(name)}
		c.nodes[n.name] = n
	}
	return n, nil
}

// seen widens the time in which something is known to be there.
func seen(first, last *time.Time, at time.Time) {
	if first.IsZero() || at.Before(*first) {
		*first = at
	}
	if at.After(*last) {
		*last = at
	}
}

// covers remembers that an aspect is known of a time.
func (c *Collector) covers(w Window, all ...Aspect) {
	for _, a := range all {
		c.windows[a] = c.windows[a].join(w)
	}
}

// look remembers a listing.
func (c *Collector) scan(from dump.Origin, in map[int64]bool, at time.Time) error {
	if len(in) >= scansMax && !in[at.UnixNano()] {
		return fail(from, "", "", "more than %d instants: ask for a longer step", scansMax)
	}
	in[at.UnixNano()] = true
	return nil
}

// instants of a set, sorted.
func instants(in map[int64]bool) []time.Time {
	var out []time.Time
	for _, n := range slices.Sorted(maps.Keys(in)) {
		out = append(out, time.Unix(0, n).UTC())
	}
	return out
}
