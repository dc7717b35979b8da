package plan_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios/calibrate"
	"ipamsim/scenarios/calibrate/observe"
	"ipamsim/scenarios/plan"
)

// listing is what kubectl get nodes,pods -A -o json would print at the beginning.
func (w *world) listing() string {
	var items []string
	for _, p := range w.pods {
		if p.born <= 0 {
			items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"n","creationTimestamp":%q%s},"spec":{"nodeName":%q},"status":{"phase":"Running"}}`, p.name, at(p.born).Format(time.RFC3339), p.owner(), p.node))
		}
	}
	for _, m := range w.nodes {
		if m.born <= 0 {
			items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"creationTimestamp":%q},"spec":{},"status":{"allocatable":{"pods":"110"}}}`, m.name, at(m.born).Format(time.RFC3339)))
		}
	}
	return `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(items, ",\n") + `]}`
}

func (p *calibratedPod) owner() string {
	kind := "ReplicaSet"
	if p.job {
		kind = "Job"
	}
	return fmt.Sprintf(`,"ownerReferences":[{"apiVersion":"x/v1","kind":%q,"name":%q,"uid":"u","controller":true}]`, kind, p.name)
}

// audit is what the API server would have logged, at level Request.
func (w *world) audit() string {
	type entry struct {
		at   time.Time
		text string
	}
	var all []entry
	end := at(float64(w.days) * 24)
	add := func(hours float64, verb, resource, name, body string) {
		t := at(hours)
		if t.Before(begins) || t.After(end) {
			return
		}
		resource, sub, _ := strings.Cut(resource, "/")
		if body != "" {
			body = `,"requestObject":` + body
		}
		all = append(all, entry{t, fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","auditID":"x","stage":"ResponseComplete","requestURI":"/","verb":%q,"user":{},"objectRef":{"resource":%q,"subresource":%q,"namespace":"n","name":%q,"apiVersion":"v1"},"responseStatus":{"code":200},"requestReceivedTimestamp":%q,"stageTimestamp":%q%s}`,
			verb, resource, sub, name, t.Format("2006-01-02T15:04:05.000000Z"), t.Format("2006-01-02T15:04:05.000000Z"), body)})
	}
	add(0, "list", "pods", "", "")
	add(float64(w.days)*24, "list", "pods", "", "")
	for _, p := range w.pods {
		add(p.born, "create", "pods", p.name, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q%s},"spec":{}}`, p.name, p.owner()))
		add(p.born, "create", "pods/binding", p.name, fmt.Sprintf(`{"apiVersion":"v1","kind":"Binding","metadata":{"name":%q},"target":{"kind":"Node","name":%q}}`, p.name, p.node))
		add(p.died, "delete", "pods", p.name, "")
	}
	for _, m := range w.nodes {
		add(m.born, "create", "nodes", m.name, "")
		for _, d := range m.drains {
			add(d[0], "patch", "nodes", m.name, `{"spec":{"unschedulable":true}}`)
			add(d[1], "patch", "nodes", m.name, `{"spec":{"unschedulable":null}}`)
		}
		add(min(m.gone, 1e7), "delete", "nodes", m.name, "")
	}
	slices.SortStableFunc(all, func(a, b entry) int { return a.at.Compare(b.at) })
	var b strings.Builder
	for _, e := range all {
		b.WriteString(e.text + "\n")
	}
	return b.String()
}

// A calibration derives the same parameters from files as from the truth that they show, and a plan
// accepts them.
func TestFilesShowTheTruth(t *testing.T) {
	tr := year
	tr.days, tr.slots, tr.crashEvery = 60, 20, 1e9
	w := tr.world(3)
	c := observe.NewCollector(managers.All())
	for name, text := range map[string]string{"listing": w.listing(), "audit": w.audit()} {
		taken := time.Time{}
		if name == "listing" {
			taken = begins
		}
		if err := c.Read(name, strings.NewReader(text), taken, nil); err != nil {
			t.Fatal(err)
		}
	}
	got, err := calibrate.Of(c.History(), 0)
	if err != nil {
		t.Fatal(err)
	}
	want, err := calibrate.Of(w.history(), 0)
	if err != nil {
		t.Fatal(err)
	}
	values := func(f *calibrate.Fit) map[string]string {
		out := map[string]string{}
		for _, p := range f.Parameters {
			if !strings.HasPrefix(p.Setting, "crash") && p.Setting != "maxPods" { // an audit log does not show silent nodes
				out[p.Setting] = fmt.Sprint(p.Value)
			}
		}
		return out
	}
	if d := cmp.Diff(values(want), values(got)); d != "" {
		t.Errorf("of the truth (-) and of files (+):\n%s", d)
	}
	var settings bytes.Buffer
	if err := got.Settings(&settings); err != nil {
		t.Fatal(err)
	}
	const text = "# mine\napiVersion: ipamsim.dev/v1alpha1\nkind: Plan\nmetadata: {name: x}\nspec:\n  ipam: calico\n  horizon: 30d\n  settings: {pool: 10.0.0.0/20, podsPerNode: 3, lifetime: 5h, nodes: 2} # old\n"
	var out bytes.Buffer
	if err := got.Into(&out, managers.All(), "plan.yaml", []byte(text), nil); err != nil {
		t.Fatalf("%v\n%s", err, settings.String())
	}
	p, err := plan.Parse(managers.All(), "out.yaml", out.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := p.Cells[0].Cluster.Load
	if l.Pods != got.Pods || len(l.Lifetimes.Marks) < 10 || l.Arrivals.PerHour < 1 || len(l.Arrivals.Hours) != 24 || p.Cells[0].Cluster.Trouble.DrainEvery == 0 {
		t.Errorf("%+v\n%s", l, out.String())
	}
	if !strings.Contains(out.String(), "# mine") || strings.Contains(out.String(), "podsPerNode") {
		t.Errorf("%s", out.String())
	}
	t.Log(settings.String())
}

// Too little data is said, and nothing is made of it: every setting that is written can
// be used, and the others are comments.
func TestTooLittle(t *testing.T) {
	one := observe.NewCollector(managers.All())
	tr := year
	tr.slots = 25
	w := tr.world(1)
	if err := one.Read("listing", strings.NewReader(w.listing()), begins, nil); err != nil {
		t.Fatal(err)
	}
	f, err := calibrate.Of(one.History(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Settings(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# lifetime: too few data: one listing is not enough; add a later one",
		"# arrivals: too few data: ", "# drainEvery: too few data: ", "# replaceEvery: too few data: one listing is not enough",
		"# grow: too few data: 0 days of listings, want 7", "nodes: 10", "pods: 25",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("missing %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\n  lifetime:") || strings.Contains(b.String(), "\n  drainFor:") {
		t.Error(b.String())
	}
}

// From one listing of pods with exponential ages the mean is estimated, with its assumption; its
// interval holds the truth.
func TestAgesOfOneListing(t *testing.T) {
	var all tally
	for seed := range uint64(worlds) {
		tr := year
		tr.slots = 300
		w := tr.ages(seed)
		c := observe.NewCollector(managers.All())
		if err := c.Read("listing", strings.NewReader(w.listing()), begins, nil); err != nil {
			t.Fatal(err)
		}
		f, err := calibrate.Of(c.History(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Parameters {
			if p.Setting == "lifetime" && p.Lack == (calibrate.Lack{}) {
				all.add("lifetime", p.Band.Holds(float64(50*time.Hour)))
			}
		}
	}
	all.check(t, worlds*3/4)
}
