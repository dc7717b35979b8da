package dump

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"ipamsim/reports/layout"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/manifest"
	"ipamsim/scenarios/dump/unread"
	"ipamsim/scenarios/strict"
)

// Scenario renders the cluster as a scenario file, and reports what is unknown. The text loads:
// anything that scenarios.Managers.Parse would reject is an error here, with the file and line of
// the object.
//
// Managers that are judged separately get scenarios of their own, Report.Apart. If one cannot be
// made, it is reported as unjudged.
func (c *Cluster) Scenario(o Options) ([]byte, *Report, error) {
	if o.Name == "" {
		o.Name = "imported"
	}
	c.found = nil
	text, report, err := c.scenario(o)
	if err != nil {
		return nil, nil, err
	}
	c.addApart(o, report)
	c.judged, c.absent = kept.Set(report.Managers, func(m Manager) string { return m.Name }), kept.Set(report.assumed, func(pod string) string { return pod })
	maps.Copy(c.absent, kept.Set(report.Absent, func(a Absent) string { return a.Pod }))
	c.unjudged, c.missing, c.supplied, c.masked = report.Unjudged, report.Absent, report.supplied, o.Anonymise
	return text, report, nil
}

// scenario is the one of a draft.
func (c *Cluster) scenario(o Options) ([]byte, *Report, error) {
	d, err := c.draft(o)
	if err != nil {
		return nil, nil, err
	}
	w := manifest.Writer{}
	if err := d.head(&w); err != nil {
		return nil, nil, err
	}
	d.manifests(&w)
	if w.Err != nil {
		return nil, nil, w.Err
	}
	return w.Bytes(), d.report, nil
}

func (d *Draft) head(w *manifest.Writer) error {
	for _, s := range d.comment() {
		w.WriteString(strings.TrimRight("# "+manifest.Comment(s), " ") + "\n")
	}
	ipam, err := d.ipam()
	if err != nil {
		return err
	}
	spec := manifest.Object{
		"title": d.title(), "ipam": ipam, "controllers": "simple", "story": "A cluster as it was dumped, without events: add a timeline.\n",
		// Long enough for what is wrong to be judged: an address may be unreachable for
		// ten seconds, and what only holds at rest is judged at the end.
		"until": "15s", "settle": "1m", "judge": manifest.Object{"leakAfter": "10s"},
	}
	m := scenarios.Import{Unjudged: d.report.Unjudged, Versions: d.report.Versions}
	for _, s := range d.report.Unknown {
		m.Unknown = append(m.Unknown, manifest.Comment(s))
	}
	if len(m.Unknown)+len(m.Unjudged)+len(m.Versions) > 0 {
		spec["import"] = m
	}
	for _, r := range d.present {
		if r.record.Spec != nil {
			r.record.Spec(spec)
		}
	}
	var going []manifest.Object
	for _, p := range slices.Concat(d.Running, d.waiting) {
		if p.Deleting {
			going = append(going, manifest.Object{"at": "0s", "delete": manifest.Object{"resource": "pods", "namespace": p.Namespace, "name": p.Name}})
		}
	}
	if len(going) > 0 {
		spec["timeline"] = going
	}
	text, err := yaml.Marshal(manifest.Object{"apiVersion": scenarios.APIVersion, "kind": scenarios.Kind, "metadata": manifest.Named(d.Options.Name), "spec": spec})
	if err != nil && w.Err == nil {
		w.Err = err
	}
	w.Write(text)
	return nil
}

// ipam returns the manager of the cluster: the only one in the dump, or the one that combines those in the
// dump.
func (d *Draft) ipam() (string, error) {
	if len(d.present) == 1 {
		return d.present[0].manager.Name, nil
	}
	var names []string
	for _, r := range d.present {
		names = append(names, r.manager.Name)
	}
	for _, m := range d.managers {
		members := slices.Sorted(slices.Values(m.Members))
		if slices.Equal(members, names) {
			return m.Name, nil
		}
	}
	return "", &strict.Error{File: unread.Files(d.sources), Problem: fmt.Sprintf("addresses are managed by %s, a combination that is not supported", strings.Join(names, " and "))}
}

func (d *Draft) title() string {
	return fmt.Sprintf("imported: %s, %s, %s", layout.Plural(len(d.Nodes), "node"), layout.Plural(len(d.Running), "pod"), layout.Count(len(d.claims()), "address in use", "addresses in use"))
}

func (d *Draft) comment() []string {
	out := []string{"Written by ipamsim import. The initial state is the dumped cluster:"}
	for _, c := range d.report.Read {
		out = append(out, fmt.Sprintf("  %d %s", c.N, c.Kind))
	}
	if len(d.sources) > 0 && !d.Options.Anonymise {
		out = append(out, "read from "+layout.Some(d.sources)+".")
	}
	section := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		out = append(out, "", title)
		for _, s := range lines {
			out = append(out, "- "+s)
		}
	}
	var doubts []string
	for _, u := range d.report.Unjudged {
		doubts = append(doubts, u.String())
	}
	section("Cannot be judged:", doubts)
	section("Unknown:", d.report.Unknown)
	section("Skipped:", d.report.Left)
	return append(out, "")
}
