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

// gauges are sorted by name. Every invariant has a sample each, if it is 0: an alert on
// a series that is not there never fires.
var gauges = []gauge{
	{"ipamsim_import_addresses", "Addresses in use in the cluster.", func(r *Result) []sample { return one(r.Addresses) }},
	{"ipamsim_import_borrowed_addresses", "Addresses that a node has of another node's block.", func(r *Result) []sample { return one(len(r.Borrowed)) }},
	{"ipamsim_import_findings", "What is wrong in the cluster, by invariant.", func(r *Result) []sample {
		return byInvariant(r.Findings, func(Finding) bool { return true })
	}},
	{"ipamsim_import_gone_findings", "What was wrong at the last import and is not found any more. Absent without one.", func(r *Result) []sample {
		if r.Since == nil {
			return nil
		}
		return one(len(r.Since.Gone))
	}},
	{"ipamsim_import_new_findings", "What is wrong and was not at the last import, by invariant. Absent without one.", func(r *Result) []sample {
		if r.Since == nil {
			return nil
		}
		return byInvariant(r.Findings, func(f Finding) bool { return f.New })
	}},
	{"ipamsim_import_nodes", "Nodes of the cluster.", func(r *Result) []sample { return one(r.Nodes) }},
	{"ipamsim_import_pods", "Pods with addresses in the cluster.", func(r *Result) []sample { return one(r.Pods) }},
	{"ipamsim_import_unjudged", "1 for an invariant that could not be judged everywhere for lack of objects.", func(r *Result) (out []sample) {
		for _, inv := range invariant.All() {
			s := sample{labels: []string{"invariant", inv.Name, "severity", string(inv.Severity)}}
			if r.unjudged(inv.Name) {
				s.value = 1
			}
			out = append(out, s)
		}
		return out
	}},
	{"ipamsim_import_unknown", "What could not be known of the cluster: not everything was judged by what it has.", func(r *Result) []sample { return one(len(r.Unknown)) }},
	{"ipamsim_import_verdict", "1 for what the import came to, 0 for the other verdicts.", func(r *Result) (out []sample) {
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

// byInvariant counts findings by invariant and severity, in the order of the invariants: each
// with its own severity, also if there are none, then with another one that its findings have.
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

// OpenMetrics writes a result as text that a Pushgateway takes, and the textfile
// collector of a node exporter: gauges without a time, with the name of the import as
// label.
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
