package formats

import (
	"io"
	"strconv"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"ipamsim/model/metric"
	"ipamsim/reports"
)

// began is the time at which every run begins, as its own processes see it: the
// instant at which the bubble's clock starts.
//
// Source: package testing/synctest, "the initial time".
var began = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// openMetrics writes a run's metrics as text that Prometheus' own tools load:
//
//	promtool tsdb create-blocks-from openmetrics FILE DIRECTORY
//
// Every sample that was taken is there, with the time that the run's processes
// had, which begins in the year 2000. The labels scenario and seed keep runs
// apart. A run that was not sampled is an empty exposition.
//
// Source: OpenMetrics 1.0, Text format.
func openMetrics(w io.Writer, r *reports.Report) error {
	byName := map[string][]*metric.Track{}
	for _, t := range r.Series.Tracks() {
		byName[t.Name] = append(byName[t.Name], t)
	}
	for _, f := range metric.Families() {
		family := &dto.MetricFamily{Name: &f.Name, Help: &f.Help, Type: dto.MetricType_GAUGE.Enum()}
		for _, t := range byName[f.Name] {
			family.Metric = append(family.Metric, samples(r, t)...)
		}
		if len(family.Metric) == 0 {
			continue
		}
		if _, err := expfmt.MetricFamilyToOpenMetrics(w, family); err != nil {
			return err
		}
	}
	_, err := expfmt.FinalizeOpenMetrics(w)
	return err
}

// samples returns the samples of one series, at most one per millisecond, the resolution of the
// format's readers.
func samples(r *reports.Report, t *metric.Track) []*dto.Metric {
	labels := []*dto.LabelPair{label("scenario", r.Scenario), label("seed", strconv.FormatUint(r.Seed, 10))}
	for _, l := range t.Labels {
		labels = append(labels, label(l.Name, l.Value))
	}
	var out []*dto.Metric
	last := int64(-1)
	for _, at := range r.Series.Instants() {
		ms := began.Add(at).UnixMilli()
		v, ok := t.At(at)
		if !ok || ms == last {
			continue
		}
		last = ms
		out = append(out, &dto.Metric{Label: labels, Gauge: &dto.Gauge{Value: &v}, TimestampMs: &ms})
	}
	return out
}

func label(name, value string) *dto.LabelPair { return &dto.LabelPair{Name: &name, Value: &value} }
