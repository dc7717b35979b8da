package dump

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"ipamsim/model/route"
	"ipamsim/scenarios"
)

// Scenario writes the cluster as a scenario file, and reports what could not be
// known. The text loads: what scenarios.Parse would refuse is an error here, with
// the file and line that the object came from.
func (c *Cluster) Scenario(o Options) ([]byte, *Report, error) {
	if o.Name == "" {
		o.Name = "imported"
	}
	d, err := c.draft(o)
	if err != nil {
		return nil, nil, err
	}
	var w writer
	d.head(&w)
	d.manifests(&w)
	if w.err != nil {
		return nil, nil, w.err
	}
	return w.Bytes(), d.report, nil
}

// Trace turns an error about the scenario that was made into one about the dump:
// where the object was read that is wrong.
func (r *Report) Trace(err error) error {
	var bad *scenarios.Error
	if !asError(err, &bad) {
		return err
	}
	from, ok := r.origins[bad.Object]
	if !ok {
		return bad
	}
	out := *bad
	out.File, out.Line, out.Column = from.File, from.Line, 0
	return &out
}

func (d *draft) head(w *writer) {
	for _, s := range d.comment() {
		w.WriteString(strings.TrimRight("# "+printable(s), " ") + "\n")
	}
	spec := object{
		"title": d.title(), "ipam": d.ipam(), "story": "A cluster as it was dumped. Nothing happens in it: write a timeline.\n",
		// Long enough for what is wrong to be judged: an address may be unreachable for
		// ten seconds, and what only holds at rest is judged at the end.
		"until": "15s", "settle": "1m", "judge": object{"leakAfter": "10s"},
	}
	m := scenarios.Import{Unjudged: d.report.Unjudged, Versions: d.report.Versions}
	for _, s := range d.report.Unknown {
		m.Unknown = append(m.Unknown, printable(s))
	}
	if len(m.Unknown)+len(m.Unjudged)+len(m.Versions) > 0 {
		spec["import"] = m
	}
	if d.calico {
		spec["datastore"] = d.datastore
		if !zero(d.fabric) {
			spec["fabric"] = d.fabric
		}
	}
	if r := d.reconcilers(); len(r) > 0 {
		spec["reconcilers"] = r
	}
	var going []object
	for _, p := range slices.Concat(d.running, d.waiting) {
		if p.Deleting {
			going = append(going, object{"at": "0s", "delete": object{"resource": "pods", "namespace": p.Namespace, "name": p.Name}})
		}
	}
	if len(going) > 0 {
		spec["timeline"] = going
	}
	text, err := yaml.Marshal(object{"apiVersion": scenarios.APIVersion, "kind": scenarios.Kind, "metadata": named(d.o.Name), "spec": spec})
	if err != nil && w.err == nil {
		w.err = err
	}
	w.Write(text)
}

func zero(f route.Fabric) bool {
	return f.Topology == "" && f.AS == 0 && len(f.Reflectors) == 0
}

func (d *draft) ipam() string {
	switch {
	case d.calico && d.ranges:
		return "calico+whereabouts"
	case d.calico:
		return "calico"
	}
	return "whereabouts"
}

func (d *draft) reconcilers() []object {
	var out []object
	for _, key := range d.cronJobs.keys() {
		if !d.ranges {
			continue
		}
		out = append(out, object{"name": reconcilerName, "schedule": strings.Trim(string(d.cronJobs[key].value), `"`)})
	}
	return out
}

func (d *draft) title() string {
	return fmt.Sprintf("imported: %s, %s, %s", plural(len(d.nodes), "node", "nodes"), plural(len(d.running), "pod", "pods"), plural(len(d.claimsOf()), "address in use", "addresses in use"))
}

func (d *draft) comment() []string {
	out := []string{"Written by ipamsim import. Its initial state is the cluster that was dumped:"}
	for _, c := range d.report.Read {
		out = append(out, fmt.Sprintf("  %d %s", c.N, c.Kind))
	}
	if len(d.sources) > 0 && !d.o.Anonymise {
		out = append(out, "read from "+some(d.sources)+".")
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
	section("What cannot be judged:", doubts)
	section("What could not be known:", d.report.Unknown)
	section("What was left out:", d.report.Left)
	return append(out, "")
}

// printable is text as part of a line of a comment.
func printable(s string) string {
	return string(bytes.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r > 0x7f {
			return '?'
		}
		return r
	}, []byte(s)))
}
