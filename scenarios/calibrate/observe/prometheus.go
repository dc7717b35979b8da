package observe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"time"

	"github.com/prometheus/common/model"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/strict"
)

// answers is how Prometheus' answer to a query begins: {"status":"success","data":…
var answers = regexp.MustCompile(`^\s*\{\s*"(status|data|resultType)"\s*:\s*("|\{)`)

// prometheus reports whether a file is such an answer.
func prometheus(head []byte) bool {
	return answers.Match(head) && (bytes.Contains(head, []byte(`"resultType"`)) || bytes.Contains(head, []byte(`"success"`)) || bytes.Contains(head, []byte(`"error"`)))
}

const (
	// seriesMax bounds one series: a year of samples every thirty seconds.
	seriesMax = 64 << 20
	labelMax  = 512
)

var errLarge = fmt.Errorf("a series of more than %d MiB", seriesMax>>20)

// meter is a reader that ends with errLarge once too much was read since left was set.
type meter struct {
	r    io.Reader
	left int
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errLarge
	}
	n, err := m.r.Read(p[:min(len(p), m.left)])
	m.left -= n
	return n, err
}

// answer is a query's while it is read, series by series.
type answer struct {
	f     *file
	m     *meter
	dec   *json.Decoder
	count int
}

// prometheus reads answers, one after the other.
func (f *file) prometheus(r io.Reader) error {
	m := &meter{r, seriesMax}
	a := &answer{f: f, m: m, dec: json.NewDecoder(m)}
	for a.dec.More() {
		if err := a.object(a.top); err != nil {
			return a.fail(err)
		}
	}
	if err := a.dec.Decode(&struct{}{}); err != nil && !errors.Is(err, io.EOF) {
		return a.fail(err)
	}
	return nil
}

func (a *answer) fail(err error) error {
	var bad *strict.Error
	switch {
	case errors.As(err, &bad):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the answer ends in the middle: the file is cut off, ask again")
	}
	return &strict.Error{File: a.f.name, Field: fmt.Sprintf("data.result[%d]", a.count), Problem: strict.OneLine(err)}
}

// object reads the fields of one.
func (a *answer) object(field func(name string) error) error {
	if t, err := a.dec.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(err, wantIf(err == nil, "want an object"))
	}
	for a.dec.More() {
		t, err := a.dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if err := field(name); err != nil {
			return err
		}
	}
	_, err := a.dec.Token()
	return err
}

func wantIf(wrong bool, text string) error {
	if wrong {
		return errors.New(text)
	}
	return nil
}

func (a *answer) top(name string) error {
	switch name {
	case "data":
		return a.object(a.data)
	case "error":
		var text string
		if err := a.dec.Decode(&text); err != nil {
			return err
		}
		return &strict.Error{File: a.f.name, Problem: "Prometheus refused the query: " + strict.OneLine(errors.New(text))}
	}
	var skip json.RawMessage
	return a.dec.Decode(&skip)
}

func (a *answer) data(name string) error {
	switch name {
	case "resultType":
		var kind string
		if err := a.dec.Decode(&kind); err != nil {
			return err
		}
		return wantIf(kind != "matrix" && kind != "vector", fmt.Sprintf("a result of type %q: want a range query's, matrix", kind))
	case "result":
	default:
		var skip json.RawMessage
		return a.dec.Decode(&skip)
	}
	if t, err := a.dec.Token(); err != nil || t != json.Delim('[') {
		return errors.Join(err, wantIf(err == nil, "want a list of series"))
	}
	for a.dec.More() {
		a.m.left = seriesMax
		var s struct {
			Metric model.Metric       `json:"metric"`
			Values []model.SamplePair `json:"values"`
			Value  *model.SamplePair  `json:"value"`
		}
		if err := a.dec.Decode(&s); err != nil {
			return err
		}
		if s.Value != nil {
			s.Values = append(s.Values, *s.Value)
		}
		if err := a.f.series(dump.Origin{File: a.f.name}, fmt.Sprintf("data.result[%d]", a.count), s.Metric, s.Values); err != nil {
			return err
		}
		a.count++
	}
	_, err := a.dec.Token()
	return err
}

// series is one of kube-state-metrics.
func (f *file) series(from dump.Origin, field string, m model.Metric, values []model.SamplePair) error {
	for name, v := range m {
		if len(v) > labelMax {
			return fail(from, "", field, "label %s has %d bytes, want at most %d", string(name)[:min(len(name), 60)], len(v), labelMax)
		}
	}
	for i, v := range values {
		if err := credible(from, "", field, v.Timestamp.Time()); err != nil {
			return err
		}
		if i > 0 && v.Timestamp <= values[i-1].Timestamp {
			return fail(from, "", field, "its samples are not in the order of time")
		}
	}
	take := podMetrics[string(m["__name__"])]
	if take == nil {
		take = nodeMetrics[string(m["__name__"])]
	}
	if take == nil || len(values) == 0 {
		f.c.counts[NoteOtherMetrics]++
		return nil
	}
	f.saw++
	return take(f, from, field, m, values)
}

type taker func(f *file, from dump.Origin, field string, m model.Metric, values []model.SamplePair) error

// The metrics that say something.
//
// Source: kubernetes/kube-state-metrics, docs/metrics/workload/pod-metrics.md and
// docs/metrics/cluster/node-metrics.md (v2.17).
var (
	podMetrics = map[string]taker{
		"kube_pod_created":         ofPod(func(f *file, s *podRecord, m model.Metric, v []model.SamplePair) { s.born = unix(v[len(v)-1]) }),
		"kube_pod_start_time":      ofPod(started),
		"kube_pod_info":            ofPod(informed),
		"kube_pod_owner":           ofPod(owned),
		"kube_pod_status_phase":    ofPod(phased),
		"kube_pod_completion_time": ofPod(func(f *file, s *podRecord, m model.Metric, v []model.SamplePair) { s.finished = unix(v[len(v)-1]) }),

		"kube_pod_container_status_restarts_total": ofPod(restarted),
	}
	nodeMetrics = map[string]taker{
		"kube_node_created": ofNode(func(f *file, n *nodeRecord, m model.Metric, v []model.SamplePair) {
			if at := unix(v[0]); n.born.IsZero() || at.Before(n.born) {
				n.born = at
			}
		}),
		"kube_node_info":               ofNode(func(*file, *nodeRecord, model.Metric, []model.SamplePair) {}),
		"kube_node_spec_unschedulable": ofNode(unschedulable),
		"kube_node_status_condition":   ofNode(conditions),
		"kube_node_status_allocatable": ofNode(allocatable),
	}
)

// ofPod finds the pod of a series and adds its samples to the scans. Phases that a pod is not in have
// samples of 0, which do not count.
func ofPod(say func(*file, *podRecord, model.Metric, []model.SamplePair)) taker {
	return func(f *file, from dump.Origin, field string, m model.Metric, values []model.SamplePair) error {
		if m["pod"] == "" || m["namespace"] == "" {
			return fail(from, "", field, "%s without the labels namespace and pod", string(m["__name__"]))
		}
		born := time.Time{}
		if m["__name__"] == "kube_pod_created" {
			if born = unix(values[len(values)-1]); !finite(values) || credible(from, "", field, born) != nil {
				return fail(from, "", field, "want the time of a creation in seconds since 1970")
			}
		}
		s, err := f.c.pod(from, string(m["uid"]), string(m["namespace"]), string(m["pod"]), born)
		if err != nil {
			return err
		}
		for _, v := range values {
			if err := f.c.scan(from, f.c.scans, v.Timestamp.Time()); err != nil {
				return err
			}
		}
		first, last := values[0].Timestamp.Time().UTC(), values[len(values)-1].Timestamp.Time().UTC()
		f.c.covers(Window{first, last}, PodStarts, PodEnds)
		if m["__name__"] != "kube_pod_status_phase" {
			seen(&s.first, &s.last, first)
			seen(&s.first, &s.last, last)
		}
		say(f, s, m, values)
		return nil
	}
}

func unix(v model.SamplePair) time.Time {
	sec, frac := math.Modf(float64(v.Value))
	return time.Unix(int64(max(min(sec, 1e12), -1e12)), int64(frac*1e9)).UTC()
}

func finite(values []model.SamplePair) bool {
	v := float64(values[len(values)-1].Value)
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}

func started(f *file, s *podRecord, m model.Metric, v []model.SamplePair) {
	if at := unix(v[len(v)-1]); s.born.IsZero() && at.After(earliest) && at.Before(latest) {
		s.born = at
	}
}

func informed(f *file, s *podRecord, m model.Metric, v []model.SamplePair) {
	s.host = m["host_network"] == "true"
	if m["node"] != "" {
		s.node = f.c.word(string(m["node"]))
	}
	ownedBy(s, string(m["created_by_kind"]), string(m["created_by_name"]))
}

func owned(f *file, s *podRecord, m model.Metric, v []model.SamplePair) {
	if m["owner_is_controller"] != "false" {
		ownedBy(s, string(m["owner_kind"]), string(m["owner_name"]))
	}
}

// ownedBy takes "<none>" for a bare pod, as kube-state-metrics writes it.
func ownedBy(s *podRecord, kind, name string) {
	switch {
	case kind == "":
	case kind == "<none>":
		s.owner = Owner{Known: true}
	default:
		s.owner = Owner{kind, name, true}
	}
}

func phased(f *file, s *podRecord, m model.Metric, values []model.SamplePair) {
	over := m["phase"] == "Succeeded" || m["phase"] == "Failed"
	for _, v := range values {
		if v.Value != 1 {
			continue
		}
		at := v.Timestamp.Time().UTC()
		seen(&s.first, &s.last, at)
		if over && (s.overBy.IsZero() || at.Before(s.overBy)) {
			s.overBy = at
		}
	}
}

func restarted(f *file, s *podRecord, m model.Metric, v []model.SamplePair) {
	for i := 1; i < len(v); i++ {
		if more := v[i].Value - v[i-1].Value; more > 0 && more < 1e6 {
			f.c.restarts += int(more)
		}
	}
	f.c.restartsOf += v[len(v)-1].Timestamp.Sub(v[0].Timestamp)
}

func ofNode(say func(*file, *nodeRecord, model.Metric, []model.SamplePair)) taker {
	return func(f *file, from dump.Origin, field string, m model.Metric, values []model.SamplePair) error {
		if m["node"] == "" {
			return fail(from, "", field, "%s without the label node", string(m["__name__"]))
		}
		if m["__name__"] == "kube_node_created" && (!finite(values) || credible(from, "", field, unix(values[0])) != nil) {
			return fail(from, "", field, "want the time of a creation in seconds since 1970")
		}
		n, err := f.c.node(from, string(m["node"]))
		if err != nil {
			return err
		}
		for _, v := range values {
			if err := f.c.scan(from, f.c.nodeSeen, v.Timestamp.Time()); err != nil {
				return err
			}
		}
		first, last := values[0].Timestamp.Time().UTC(), values[len(values)-1].Timestamp.Time().UTC()
		seen(&n.first, &n.last, first)
		seen(&n.first, &n.last, last)
		f.c.covers(Window{first, last}, Nodes)
		say(f, n, m, values)
		return nil
	}
}

func unschedulable(f *file, n *nodeRecord, m model.Metric, values []model.SamplePair) {
	n.cordons = append(n.cordons, flips(values, func(v float64) bool { return v == 1 })...)
	f.c.covers(Window{values[0].Timestamp.Time().UTC(), values[len(values)-1].Timestamp.Time().UTC()}, Cordons)
}

func conditions(f *file, n *nodeRecord, m model.Metric, values []model.SamplePair) {
	if m["condition"] != "Ready" || m["status"] != "true" {
		return
	}
	n.silences = append(n.silences, flips(values, func(v float64) bool { return v == 0 })...)
	f.c.covers(Window{values[0].Timestamp.Time().UTC(), values[len(values)-1].Timestamp.Time().UTC()}, Ready)
}

// flips are the samples around which something changes, with the first and the last.
func flips(values []model.SamplePair, on func(float64) bool) (out changes) {
	for i, v := range values {
		is := on(float64(v.Value))
		edge := i == 0 || i == len(values)-1 || is != on(float64(values[i-1].Value)) || is != on(float64(values[i+1].Value))
		if edge {
			out = append(out, change{v.Timestamp.Time().UTC(), is, true})
		}
	}
	return out
}

func allocatable(f *file, n *nodeRecord, m model.Metric, v []model.SamplePair) {
	if x := float64(v[len(v)-1].Value); m["resource"] == "pods" && x >= 1 && x < 10_000 {
		f.c.maxPods[int(x)] = true
	}
}
