package dump_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports/imported"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/remedy"
	"ipamsim/scenarios/scenariotest"
)

var (
	subsets    = flag.Int("subsets", 300, "how many random parts of dumps TestPartial imports")
	subsetSeed = flag.Uint64("subsets.seed", 1, "the seed of TestPartial")
)

// From every part of a dump whose whole is known: no remedy frees an address of a pod or a node
// that the whole dump shows alive, each command that frees looks at the cluster first, and
// nothing is called healthy unless all objects of the kinds are there, and something shows it.
func TestPartial(t *testing.T) {
	r, all := scenariotest.Runner(t), wholes(t)
	var n struct{ parts, hidden, leaks, healthy, refused int }
	for i := range *subsets {
		rng := rand.New(rand.NewPCG(*subsetSeed, uint64(i)))
		w := all[rng.IntN(len(all))]
		p := w.part(rng)
		is := importPart(r, p)
		if is.err != nil {
			n.refused++
			continue
		}
		n.parts++
		if len(is.missing) > 0 {
			n.hidden++
		}
		if is.verdict == imported.Healthy {
			n.healthy++
			if !p.clear {
				t.Errorf("-subsets.seed %d, part %d of %s (%s): all is said to be well", *subsetSeed, i, w.name, p.how)
			}
		}
		for _, problem := range is.plan {
			for _, try := range problem.Try {
				n.leaks += len(freed(&try))
				for _, harm := range w.harms(&problem, &try) {
					t.Errorf("-subsets.seed %d, part %d of %s (%s): %s", *subsetSeed, i, w.name, p.how, harm)
				}
			}
		}
	}
	t.Logf("%d parts, %d refused: %d lack pods for which something is claimed, %d are healthy, %d commands free something", n.parts, n.refused, n.hidden, n.healthy, n.leaks)
	if n.parts < *subsets/2 || n.hidden < n.parts/10 || n.leaks < n.parts/10 || *subsets >= 300 && n.healthy == 0 {
		t.Error("the parts show too little")
	}
}

// planned is what import thinks of a part, before it simulates anything.
type planned struct {
	missing []dump.Absent
	plan    []remedy.Problem
	verdict imported.Verdict
	err     error
}

func importPart(r *scenarios.Runner, p *part) (out planned) {
	c := dump.New(managers.All())
	for _, f := range p.files {
		if out.err = c.Read(f.name, strings.NewReader(f.text), nil); out.err != nil {
			return out
		}
	}
	text, report, err := c.Scenario(dump.Options{})
	if err != nil {
		return planned{err: err}
	}
	c.Forget()
	s, err := managers.All().Parse("the imported scenario", text)
	if err != nil {
		return planned{err: err}
	}
	v, err := r.Inspect(context.Background(), s)
	if err != nil {
		return planned{err: err}
	}
	apart, err := diagnosis.Apart(context.Background(), r, report)
	if err != nil {
		return planned{err: err}
	}
	f := diagnosis.Of(c, v, true, apart...)
	out.missing, out.verdict = report.Absent, f.Verdict(model.Minor)
	out.plan, out.err = f.Plan(s, v)
	return out
}

// entire is a dump of testdata/truth.
type entire struct {
	name   string
	lists  []*resourceList // by resource, sorted
	opaque []partFile      // what calicoctl prints
	alive  map[netip.Addr]string
	blocks map[string][]netip.Addr // of each IPAMBlock, the addresses that are alive
	owner  map[string]string       // of each IPAMBlock
	claims map[string]bool         // handles by which something alive is claimed
	broken map[string]bool         // pods that a finding of the whole dump is about
}

type resourceList struct {
	resource string
	kubectl  bool
	items    []json.RawMessage
}

type partFile struct{ name, text string }

// metaOf is what is read of an object here.
type metaOf struct {
	APIVersion, Kind string
	Metadata         struct {
		Name, Namespace   string
		Annotations       map[string]string
		DeletionTimestamp string
	}
	Spec struct {
		NodeName    string
		HostNetwork bool
		CIDR        string
		Affinity    string
		Allocations []*int
		Attributes  []struct {
			Handle string `json:"handle_id"`
		}
	}
	Status struct {
		Phase  string
		PodIPs []struct{ IP string }
	}
}

func wholes(t *testing.T) (out []*entire) {
	t.Helper()
	r := scenariotest.Runner(t)
	for _, name := range truths(t) {
		x := truthOf(t, name)
		if x.Refused {
			continue
		}
		w := &entire{name: name, alive: map[netip.Addr]string{}, blocks: map[string][]netip.Addr{}, owner: map[string]string{}, claims: map[string]bool{}, broken: map[string]bool{}}
		for _, file := range x.Files {
			text, err := os.ReadFile(filepath.Join("testdata/truth", name, file))
			if err != nil {
				t.Fatal(err)
			}
			w.take(file, string(text))
		}
		for _, res := range dump.Resources(managers.All()) { // what the command that collects a dump shows to be empty
			if res.By == dump.Kubectl && res.Only == "" && len(w.opaque) == 0 {
				w.list(res.Name())
			}
		}
		if len(w.opaque) == 0 {
			w.namespaces()
		}
		slices.SortFunc(w.lists, func(a, b *resourceList) int { return strings.Compare(a.resource, b.resource) })
		w.live()
		p := importPart(r, &part{files: w.all()})
		if p.err != nil {
			t.Fatalf("%s: %v", name, p.err)
		}
		for _, problem := range p.plan {
			for _, try := range problem.Try {
				for _, pod := range try.Pods {
					w.broken[pod.String()] = true
				}
			}
		}
		out = append(out, w)
	}
	return out
}

// all of it, as the command prints it that collects a dump.
func (w *entire) all() []partFile {
	var lists []*cutList
	for _, l := range w.lists {
		lists = append(lists, &cutList{resourceList: l, items: l.items})
	}
	if len(lists) == 0 {
		return w.opaque
	}
	return append(counted(nil, lists), w.opaque...)
}

// namespaces adds those that every cluster has, and those of the pods.
func (w *entire) namespaces() {
	names := map[string]bool{"default": true, "kube-system": true}
	for _, item := range w.list("pods").items {
		var o metaOf
		_ = json.Unmarshal(item, &o)
		names[o.Metadata.Namespace] = true
	}
	l := w.list("namespaces")
	for _, item := range l.items {
		var o metaOf
		_ = json.Unmarshal(item, &o)
		delete(names, o.Metadata.Name)
	}
	for _, name := range kept.Keys(names) {
		l.items = append(l.items, json.RawMessage(fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name)))
	}
}

// prompt begins a line that is no part of what was printed.
var prompt = regexp.MustCompile(`(?m)^(\$ .*|---.*)\n`)

func (w *entire) take(file, text string) {
	if strings.Contains(text, "calicoctl ipam show") || strings.HasSuffix(file, ".export") {
		w.opaque = append(w.opaque, partFile{file, text})
		return
	}
	for _, doc := range prompt.Split(text, -1) {
		var list struct {
			Kind  string
			Items []json.RawMessage
		}
		if strings.TrimSpace(doc) == "" {
			continue
		}
		if yaml.Unmarshal([]byte(doc), &list) != nil || list.Kind != "List" {
			w.opaque = append(w.opaque, partFile{fmt.Sprintf("%d-%s", len(w.opaque), file), doc})
			continue
		}
		for _, item := range list.Items {
			var o metaOf
			_ = json.Unmarshal(item, &o)
			l := w.list(resourceOf(&o))
			l.items = append(l.items, item)
		}
	}
}

func (w *entire) list(resource string) *resourceList {
	for _, l := range w.lists {
		if l.resource == resource {
			return l
		}
	}
	w.lists = append(w.lists, &resourceList{resource: resource})
	return w.lists[len(w.lists)-1]
}

func resourceOf(o *metaOf) string {
	group := kept.GroupOf(o.APIVersion)
	for _, r := range dump.Resources(managers.All()) {
		if r.Kind == o.Kind && r.Group() == group {
			return r.Name()
		}
	}
	return strings.Trim(strings.ToLower(o.Kind)+"s."+group, ".")
}

// live notes who is alive, with which addresses.
func (w *entire) live() {
	handles := map[string]netip.Addr{}
	for _, l := range w.lists {
		for _, item := range l.items {
			var o metaOf
			_ = json.Unmarshal(item, &o)
			switch {
			case o.Kind == "Pod" && o.Status.Phase != "Succeeded" && o.Status.Phase != "Failed" && !o.Spec.HostNetwork:
				texts := strings.Split(o.Metadata.Annotations["cni.projectcalico.org/podIPs"], ",")
				for _, ip := range o.Status.PodIPs {
					texts = append(texts, ip.IP)
				}
				for _, s := range kept.Statuses(o.Metadata.Annotations[kept.StatusAnnotation]) {
					texts = append(texts, s.IPs...)
				}
				for _, a := range kept.AddrsIn(texts) {
					w.alive[a] = o.Metadata.Namespace + "/" + o.Metadata.Name
				}
			case o.Kind == "Node":
				for key, value := range o.Metadata.Annotations {
					if strings.HasSuffix(key, "TunnelAddr") || strings.HasSuffix(key, "InterfaceAddr") {
						for _, a := range kept.AddrsIn([]string{value}) {
							w.alive[a] = "node " + o.Metadata.Name
						}
					}
				}
			case o.Kind == "IPAMBlock":
				w.owner[o.Metadata.Name] = o.Spec.Affinity
				first, _ := netip.ParsePrefix(o.Spec.CIDR)
				a := first.Addr()
				for _, k := range o.Spec.Allocations {
					if k != nil {
						w.blocks[o.Metadata.Name] = append(w.blocks[o.Metadata.Name], a)
						handles[o.Spec.Attributes[*k].Handle] = a
					}
					a = a.Next()
				}
			}
		}
	}
	for name, all := range w.blocks {
		w.blocks[name] = slices.DeleteFunc(all, func(a netip.Addr) bool { return w.alive[a] == "" })
	}
	for id, a := range handles {
		w.claims[strings.ToLower(id)] = w.alive[a] != ""
	}
}

// freed are the parts of the commands of a remedy that free something.
func freed(r *remedy.Remedy) (out []string) {
	for _, s := range r.Steps {
		for _, line := range s.Commands() {
			for _, one := range strings.Split(line, " && ") {
				if freeing.MatchString(one) {
					out = append(out, one)
				}
			}
		}
	}
	return out
}

var freeing = regexp.MustCompile(`^calicoctl ipam release|^kubectl patch|^kubectl delete (ipam|block|overlapping)`)

// harms are what a remedy would do to pods that run.
func (w *entire) harms(p *remedy.Problem, r *remedy.Remedy) (out []string) {
	free := freed(r)
	for i := range p.Goals {
		g := &p.Goals[i]
		if g.Invariant != invariant.LeakedClaim.Name && g.Invariant != invariant.LeftoverReservation.Name || len(free) == 0 {
			continue
		}
		a, _ := netip.ParseAddr(model.Named(g.Objects, model.RefAddress))
		if who := w.alive[a]; who != "" && (who == model.Named(g.Objects, model.RefPod) || strings.HasPrefix(who, "node ")) {
			out = append(out, fmt.Sprintf("%s of %s is to be freed: %s", a, who, free[0]))
		}
	}
	for _, one := range free {
		f := strings.Fields(one)
		switch {
		case strings.HasPrefix(one, "calicoctl ipam release --ip="):
			a := netip.MustParseAddr(strings.TrimPrefix(f[3], "--ip="))
			if who := w.alive[a]; who != "" {
				out = append(out, fmt.Sprintf("%s: it is %s's", one, who))
			}
		case f[1] == "delete" && strings.HasPrefix(f[2], "ipamblocks."):
			if left := w.remaining(f[3], r); len(left) > 0 {
				out = append(out, fmt.Sprintf("%s: %v are in use", one, left))
			}
		case f[1] == "delete" && strings.HasPrefix(f[2], "ipamhandles."):
			for _, id := range f[3:] {
				if w.claims[id] {
					out = append(out, one+": something is claimed by it")
				}
			}
		case f[1] == "delete" && strings.HasPrefix(f[2], "blockaffinities."):
			for name, owner := range w.owner {
				if f[3] == strings.TrimPrefix(owner, "host:")+"-"+name && len(w.remaining(name, r)) > 0 {
					out = append(out, fmt.Sprintf("%s: the block is its node's, and %v are in use", one, w.remaining(name, r)))
				}
			}
		}
	}
	for _, pod := range r.Pods {
		if !w.broken[pod.String()] {
			out = append(out, pod.String()+" is to be restarted, and nothing is wrong with it: "+goals(p))
		}
	}
	return append(out, unguarded(r)...)
}

// remaining are the addresses of a block that are alive and that the remedy does not move.
func (w *entire) remaining(block string, r *remedy.Remedy) []netip.Addr {
	return slices.DeleteFunc(slices.Clone(w.blocks[block]), func(a netip.Addr) bool {
		return slices.ContainsFunc(r.Pods, func(p model.PodRef) bool { return p.String() == w.alive[a] })
	})
}

func goals(p *remedy.Problem) string {
	if len(p.Goals) == 0 {
		return "for a block of " + p.Needs
	}
	return p.Goals[0].Invariant + " " + p.Goals[0].Code
}

// unguarded are the commands that free something without a check of the cluster first.
func unguarded(r *remedy.Remedy) (out []string) {
	looked := false
	for _, s := range r.Steps {
		for _, line := range s.Commands() {
			looked = looked || strings.HasPrefix(line, "calicoctl ipam show --show-blocks") || strings.HasPrefix(line, "calicoctl ipam check")
			guarded := false
			for _, one := range strings.Split(line, " && ") {
				guarded = guarded || checks(one)
				edit := strings.HasPrefix(one, "kubectl patch "+networksResource) // takes no address from a pod, and fails if the network has changed
				if freeing.MatchString(one) && !guarded && !looked && !edit {
					out = append(out, one+" does not look first")
				}
			}
		}
	}
	return out
}
