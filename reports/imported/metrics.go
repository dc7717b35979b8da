package imported

import (
	"cmp"
	"io"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"ipamsim/model"
	"ipamsim/model/invariant"
)

// gauge is a metric with its samples.
type gauge struct {
	name, help string
	of         func(*Result) []sample
}

// sample is one value, with labels as pairs of name and value.
type sample struct {
	value  float64
	labels []string
}

// gauges are sorted by name. Every invariant has a sample, also if it is 0: an alert on an
// absent series never fires.
var gauges = []gauge{
	{"ipamsim_import_addresses", "Addresses in use in the cluster.", func(r *Result) []sample { return one(r.Addresses) }},
	{"ipamsim_import_borrowed_addresses", "Addresses that a node borrows from another node's block.", func(r *Result) []sample { return one(len(r.Borrowed)) }},
	{"ipamsim_import_findings", "Findings in the cluster, by invariant.", func(r *Result) []sample {
		return byInvariant(r.Findings, func(Finding) bool { return true })
	}},
	{"ipamsim_import_gone_findings", "Findings of the last import that are no longer found. Absent without a last import.", func(r *Result) []sample {
		if r.Since == nil {
			return nil
		}
		return one(len(r.Since.Gone))
	}},
	{"ipamsim_import_new_findings", "Findings that the last import did not have, by invariant. Absent without a last import.", func(r *Result) []sample {
		if r.Since == nil {
			return nil
		}
		return byInvariant(r.Findings, func(f Finding) bool { return f.New })
	}},
	{"ipamsim_import_nodes", "Nodes of the cluster.", func(r *Result) []sample { return one(r.Nodes) }},
	{"ipamsim_import_pods", "Pods with addresses in the cluster.", func(r *Result) []sample { return one(r.Pods) }},
	{"ipamsim_import_unjudged", "1 for an invariant that could not be judged everywhere because objects are missing.", func(r *Result) (out []sample) {
		for _, inv := range invariant.All() {
			s := sample{labels: []string{"invariant", inv.Name, "severity", string(inv.Severity)}}
			if r.unjudged(inv.Name) {
				s.value = 1
			}
			out = append(out, s)
		}
		return out
	}},
	{"ipamsim_import_unknown", "Facts about the cluster that the import could not determine.", func(r *Result) []sample { return one(len(r.Unknown)) }},
	{"ipamsim_import_verdict", "1 for the verdict of the import, 0 for the others.", func(r *Result) (out []sample) {
		for _, v := range []Verdict{Healthy, Undecided, Wrong} {
			s := sample{labels: []string{"verdict", string(v)}}
			if v == r.Verdict {
				s.value = 1
			}
			out = append(out, s)
		}
		return out
	}},
}

func one(n int) []sample { return []sample{{value: float64(n)}} }

// byInvariant counts findings by invariant and severity, in the order of the invariants. Each has
// a sample with its own severity, also if 0, then samples for other severities of its findings.
func byInvariant(all []Finding, counts func(Finding) bool) (out []sample) {
	type row struct {
		invariant string
		severity  model.Severity
	}
	n := map[row]int{}
	for _, f := range all {
		if counts(f) {
			n[row{f.Invariant, f.Severity}]++
		}
	}
	add := func(name string, own model.Severity) {
		for _, s := range slices.Concat([]model.Severity{own}, slices.DeleteFunc(slices.Clone(model.Severities), func(s model.Severity) bool { return s == own || n[row{name, s}] == 0 })) {
			out = append(out, sample{float64(n[row{name, s}]), []string{"invariant", name, "severity", string(s)}})
		}
	}
	for _, inv := range invariant.All() {
		add(inv.Name, inv.Severity)
	}
	add(Exhausted, model.Critical)
	return out
}

// OpenMetrics writes a result as text for a Pushgateway or the textfile collector of a node
// exporter: gauges without timestamps, labelled with the name of the import.
//
// Source: OpenMetrics 1.0, Text format.
func OpenMetrics(w io.Writer, r *Result) error {
	for _, g := range gauges {
		f := &dto.MetricFamily{Name: &g.name, Help: &g.help, Type: dto.MetricType_GAUGE.Enum()}
		for _, s := range g.of(r) {
			m := &dto.Metric{Gauge: &dto.Gauge{Value: &s.value}, Label: []*dto.LabelPair{label("import", r.Name)}}
			for i := 0; i < len(s.labels); i += 2 {
				m.Label = append(m.Label, label(s.labels[i], s.labels[i+1]))
			}
			slices.SortFunc(m.Label, func(a, b *dto.LabelPair) int { return cmp.Compare(a.GetName(), b.GetName()) })
			f.Metric = append(f.Metric, m)
		}
		if len(f.Metric) == 0 {
			continue
		}
		if _, err := expfmt.MetricFamilyToOpenMetrics(w, f); err != nil {
			return err
		}
	}
	_, err := expfmt.FinalizeOpenMetrics(w)
	return err
}

func label(name, value string) *dto.LabelPair { return &dto.LabelPair{Name: &name, Value: &value} }
