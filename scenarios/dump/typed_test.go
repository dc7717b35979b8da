package dump_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/clustertest"
)

// acted is what came of it when everything that is printed for a dump was typed, line
// by line, in a run of the real code that begins with that cluster. Nothing of it knows
// how the importer has chosen or tried its remedies: lines are typed as they stand
// there, and then the cluster is dumped and imported again.
type acted struct {
	lines []string      // that do something
	took  time.Duration // virtual
	still []string      // findings that the lines were for and that are there afterwards
	fresh []string      // findings that were not there before
	err   error
}

func (a *acted) String() string {
	switch {
	case a.err != nil:
		return "cannot be simulated: " + a.err.Error()
	case len(a.still)+len(a.fresh) > 0:
		return strings.Join(slices.Concat(prefixed("still ", a.still), prefixed("new: ", a.fresh)), "; ")
	case len(a.lines) == 0:
		return "nothing to do"
	}
	return fmt.Sprintf("passes: %s", layout.Plural(len(a.lines), "line"))
}

// passes reports whether there is nothing to say against it.
func (a *acted) passes() bool { return a.err == nil && len(a.still)+len(a.fresh) == 0 }

func prefixed(p string, all []string) (out []string) {
	for _, s := range all {
		out = append(out, p+s)
	}
	return out
}

// actOut types what is printed for a dump, each line once, in the order of printing.
// What is uncovered by it is not new.
func actOut(r *scenarios.Runner, x *truth, is answer) *acted {
	a := &acted{}
	fixed := map[string]bool{}
	lines := printedLines(is.findings, fixed)
	if len(actsOf(lines)) == 0 {
		return a
	}
	a.lines = lines
	o := &typist{podSet: is.podSet, deleted: map[string]bool{}}
	for _, l := range lines {
		if a.err = o.line(l); a.err != nil {
			return a
		}
	}
	o.now += 2 * time.Minute
	a.took = o.now
	stored, err := o.run(r, is.text)
	if err != nil {
		a.err = err
		return a
	}
	after := again(r, stored)
	if a.err = after.err; a.err != nil {
		return a
	}
	if x.Calico != "" { // otherwise status.podIP is of a network that is not simulated
		a.fresh = is.podSet.lost(stored, o.deleted, o.made)
	}
	before := map[string]bool{}
	for _, f := range slices.Concat(is.findings.All, is.findings.Supposed) {
		before[identity(&f.Violation)] = true
	}
	for i := range after.findings.All {
		switch f := &after.findings.All[i]; {
		case fixed[identity(&f.Violation)]:
			a.still = append(a.still, f.Message)
		case !before[identity(&f.Violation)] && !slices.ContainsFunc(x.Uncovers, func(u truthFinding) bool { return u.is(f) }):
			a.fresh = append(a.fresh, f.Message)
		}
	}
	return a
}

// printedLines are the commands, each once; the findings that they are for are noted.
func printedLines(f *diagnosis.Findings, fixed map[string]bool) (lines []string) {
	for i := range f.All {
		x := &f.All[i]
		if x.Problem > 0 && (f.Results[x.Problem-1].Best != nil || f.Results[x.Problem-1].With != nil) {
			fixed[identity(&x.Violation)] = true
		}
	}
	for _, l := range f.Commands() {
		if !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	return lines
}

func identity(v *model.Violation) string { return fmt.Sprint(v.Invariant, " ", v.Objects) }

// stopping is how long a pod takes to go, and a little more.
const stopping = 40 * time.Second

// typist types at the pace of people, and waits until pods that it deleted are made
// again.
type typist struct {
	podSet  podSet
	now     time.Duration
	steps   []map[string]any
	deleted map[string]bool // pods
	made    []string        // their successors
	edits   []string        // of networks, which a run begins with: old and new configurations by turns
}

// looks reports whether a part of a line only checks that the rest of it may be done.
func checks(part string) bool {
	return strings.HasPrefix(part, "p=$(kubectl get ") || strings.HasPrefix(part, `[ -z "$p" ]`) || strings.HasPrefix(part, `[ "$p" != `) || strings.HasPrefix(part, `! echo "$p" | grep -q`)
}

func (o *typist) do(what string, args map[string]any) {
	o.now += time.Second
	o.steps = append(o.steps, map[string]any{"at": o.now.String(), what: args})
}

// network is a line that edits a network.
func (o *typist) network(line string) error {
	_, patch, _ := strings.Cut(line, " -p ")
	var ops []struct{ Op, Path, Value string }
	if err := json.Unmarshal([]byte(strings.Trim(patch, "'")), &ops); err != nil || len(ops) != 2 || ops[0].Op != "test" || ops[1].Op != "replace" || ops[1].Path != "/spec/config" {
		return fmt.Errorf("%s: %+v, %w", line, ops, err)
	}
	o.edits = append(o.edits, ops[0].Value, ops[1].Value)
	return nil
}

// line is one printed command line.
func (o *typist) line(line string) error {
	if strings.HasPrefix(line, "kubectl patch "+networksResource) {
		return o.network(line)
	}
	for _, one := range strings.Split(line, " && ") {
		w := strings.Fields(one)
		switch {
		case checks(one):
		case strings.HasPrefix(one, "calicoctl datastore migrate"):
			o.do("apply", map[string]any{"object": map[string]any{"apiVersion": "crd.projectcalico.org/v1", "kind": "ClusterInformation",
				"metadata": map[string]any{"name": "default"}, "spec": map[string]any{"datastoreReady": w[3] == "unlock"}}})
		case w[0] == "calicoctl":
			o.do("command", map[string]any{"run": one})
		case strings.Contains(one, "VirtualMachineInstanceMigration"):
			if err := o.migrate(one); err != nil {
				return err
			}
		case w[0] != "kubectl":
			return fmt.Errorf("no such command here: %s", one)
		case w[1] == "get" || w[1] == "logs":
		case w[1] == "cordon" || w[1] == "uncordon":
			for _, n := range w[2:] {
				o.do("cordon", map[string]any{"node": n, "undo": w[1] == "uncordon"})
			}
		case w[1] == "delete" && w[2] == "pod":
			o.deletePods(w[4], w[5:])
		case w[1] == "delete" && len(w) == 4:
			o.do("delete", map[string]any{"resource": w[2], "name": w[3]})
		case w[1] == "delete" && len(w) == 6:
			o.do("delete", map[string]any{"resource": w[2], "name": w[3], "namespace": w[5]})
		case w[1] == "patch":
			var ops []map[string]any
			if err := json.Unmarshal([]byte(strings.Trim(w[len(w)-1], "'")), &ops); err != nil {
				return fmt.Errorf("%s: %w", one, err)
			}
			o.do("patch", map[string]any{"resource": w[2], "name": w[3], "namespace": w[5], "json": ops})
		default:
			return fmt.Errorf("no such command here: %s", one)
		}
	}
	return nil
}

// run simulates the typed lines, and returns all objects that the cluster has at the end.
func (o *typist) run(r *scenarios.Runner, text string) (stored []cluster.Object, err error) {
	head, rest, _ := strings.Cut(text, "\n---\n")
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(head), &doc); err != nil {
		return nil, err
	}
	for i, config := range o.edits {
		b, _ := json.Marshal(config)
		if o.edits[i] = string(b); i%2 == 1 && !strings.Contains(rest, o.edits[i-1]) {
			return nil, fmt.Errorf("the cluster has another configuration than %s", o.edits[i-1])
		} else if i%2 == 1 {
			rest = strings.Replace(rest, o.edits[i-1], o.edits[i], 1)
		}
	}
	spec := doc["spec"].(map[string]any)
	timeline, _ := spec["timeline"].([]any)
	for _, s := range o.steps {
		timeline = append(timeline, s)
	}
	spec["timeline"], spec["until"] = timeline, o.now.String()
	out, err := yaml.Marshal(doc)
	if err != nil {
		return nil, err
	}
	s, err := managers.All().Parse("acted.yaml", append(append(out, "---\n"...), rest...))
	if err != nil {
		return nil, err
	}
	var bad error
	_, err = r.Run(context.Background(), s, scenarios.Options{Store: scenarios.Memory, End: func(c *cluster.Cluster) { stored, bad = clustertest.Stored(c) }})
	return stored, cmp.Or(err, bad)
}

// again imports a cluster as kubectl and calicoctl would dump it.
func again(r *scenarios.Runner, stored []cluster.Object) answer {
	type head struct{ APIVersion, Kind string }
	lists := map[head][]json.RawMessage{}
	for _, kind := range []string{"IPPool", "OverlappingRangeIPReservation"} { // an empty list is known to be empty
		lists[head{"whereabouts.cni.cncf.io/v1alpha1", kind}] = nil
	}
	for _, kind := range []string{"IPAMBlock", "BlockAffinity", "IPAMHandle", "BGPConfiguration", "BGPPeer"} {
		lists[head{"crd.projectcalico.org/v1", kind}] = nil
	}
	for _, o := range stored {
		var h head
		if err := json.Unmarshal(o.Body, &h); err != nil {
			return answer{err: err}
		}
		lists[h] = append(lists[h], json.RawMessage(o.Body))
	}
	c := dump.New(managers.All())
	for _, h := range slices.SortedFunc(maps.Keys(lists), func(a, b head) int {
		return cmp.Or(cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind))
	}) {
		list, err := json.Marshal(map[string]any{"apiVersion": h.APIVersion, "kind": h.Kind + "List", "items": lists[h]})
		if err == nil {
			err = c.Read(h.Kind+".json", bytes.NewReader(list), nil)
		}
		if err != nil {
			return answer{err: err}
		}
	}
	return importAll(r, whole(c), "after")
}
