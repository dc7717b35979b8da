package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"

	"ipamsim/model/metric"
	"ipamsim/reports/golden"
)

// sampled is the staging cluster of seeds/000 as its metrics would have told: two
// nodes take two blocks each, then a third one has to borrow.
func sampled(r *Report) *Report {
	r.Series = &metric.Series{}
	nodes := []string{"kubestage1001", "kubestage1002", "kubestage1003"}
	for i := range 8 {
		free := max(4-i, 0)
		points := []metric.Point{
			point(metric.PoolSize, 256, "ippool", "staging"),
			point(metric.FreeBlocks, free, "ippool", "staging"),
			point(metric.NodesWithoutBlock, max(3-(i+1), 1)),
			point(metric.Leaked, 0, "ippool", "staging"),
		}
		for k, n := range nodes {
			used, borrowed := 20*i, 0
			if k == 2 {
				used, borrowed = max(0, i-5), max(0, i-5)
			} else if blocks := min((i+1-k)/2, 2); blocks > 0 {
				points = append(points, point(metric.BlocksPerNode, blocks, "node", n))
			}
			points = append(points, point(metric.InUse, used, "ippool", "staging", "node", n), point(metric.Borrowed, borrowed, "ippool", "staging", "node", n))
		}
		if i > 3 {
			points = append(points, point(metric.StarvedNodes, 1))
		}
		points = append(points, point(metric.BlackholedPairs, 2*max(0, i-5)))
		r.Series.Add(time.Duration(i)*30*time.Second, points)
	}
	return r
}

func point(name string, value int, labels ...string) metric.Point {
	p := metric.Point{Name: name, Value: float64(value)}
	for i := 0; i < len(labels); i += 2 {
		p.Labels = append(p.Labels, metric.Label{Name: labels[i], Value: labels[i+1]})
	}
	return p
}

// TestAlertNobodyHad: the order in which trouble would have been told, and a
// table of what the scenario asks for, or of what ever moved.
func TestAlertNobodyHad(t *testing.T) {
	r := sampled(&Report{Scenario: "w6-alert", Seed: 1})
	text := Metrics(r)
	r.Metrics = []string{metric.BlocksPerNode, metric.FreeBlocks, "ipamsim_nonsense"}
	text += "\nas asked for\n" + Metrics(r)
	golden.Check(t, "testdata/metrics.txt", text)
	for _, line := range strings.Split(text, "\n") {
		if n := len([]rune(line)); n > proseWidth {
			t.Errorf("%d columns, want at most %d: %s", n, proseWidth, line)
		}
	}
	if Metrics(&Report{}) != "" {
		t.Error("a run without samples has metrics")
	}
}

// In a cluster with pools of both families each has a first time and a row of its own, and
// what IPv6 has plenty of hides nothing of IPv4.
func TestMetricsOfBothFamilies(t *testing.T) {
	r := &Report{Scenario: "dual", Series: &metric.Series{}}
	for i := range 4 {
		four, six := max(0, i-1), max(0, i-2)
		r.Series.Add(time.Duration(i)*30*time.Second, []metric.Point{
			point(metric.FreeBlocks, 4-i, "ippool", "four"), point(metric.FreeBlocks, 1<<58-i, "ippool", "six"),
			point(metric.BlackholedPairs, four+six),
			point(metric.BlackholedPairsPerFamily, four, "family", "IPv4"), point(metric.BlackholedPairsPerFamily, six, "family", "IPv6"),
			point(metric.RangeSize, 14, "range", "10.0.0.0/28"), point(metric.RangeSize, 1<<60, "range", "fd00::/68"),
			point(metric.RangeInUse, i, "range", "10.0.0.0/28"), point(metric.RangeInUse, i, "range", "fd00::/68"),
		})
	}
	golden.Check(t, "testdata/metrics-dual.txt", Metrics(r))
}

func TestMetricsInJSON(t *testing.T) {
	b, err := JSON(sampled(&Report{Scenario: "w6-alert"}))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Metrics []struct {
			Name   string
			Labels map[string]string
			Values [][2]*float64
		}
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for _, m := range got.Metrics {
		if m.Name != metric.BlocksPerNode || m.Labels["node"] != "kubestage1002" {
			continue
		}
		var values []string
		for _, v := range m.Values {
			values = append(values, fmt.Sprintf("%g:%g", *v[0], *v[1]))
		}
		if d := cmp.Diff("60:1 120:2", strings.Join(values, " ")); d != "" {
			t.Errorf("%s %v (-want +got)\n%s", m.Name, m.Labels, d)
		}
		return
	}
	t.Errorf("no %s of kubestage1002 among %d series", metric.BlocksPerNode, len(got.Metrics))
}

// TestOpenMetrics reads the text back with Prometheus' own parser, which knows
// its older format only: that differs in the unit of time and the last line.
func TestOpenMetrics(t *testing.T) {
	r := sampled(&Report{Scenario: "w6\n\"alert\"", Seed: 7})
	var b bytes.Buffer
	if err := OpenMetrics(&b, r); err != nil {
		t.Fatal(err)
	}
	text, ended := strings.CutSuffix(b.String(), "# EOF\n")
	if !ended {
		t.Error("the text does not end as OpenMetrics says")
	}
	want := `ipam_blocks_per_node{scenario="w6\n\"alert\"",seed="7",node="kubestage1002"} 1.0 9.4668486e+08`
	if !strings.Contains(text, want+"\n") {
		t.Errorf("no line %s in\n%s", want, text)
	}
	var parser expfmt.TextParser
	families, err := parser.TextToMetricFamilies(strings.NewReader(inMilliseconds(text)))
	if err != nil {
		t.Fatal(err)
	}
	got := families[metric.FreeBlocks].GetMetric()
	if len(got) != 8 || got[3].GetGauge().GetValue() != 1 || got[3].GetTimestampMs() != began.Add(90*time.Second).UnixMilli() {
		t.Errorf("%d samples of %s, the fourth is %v", len(got), metric.FreeBlocks, got[3])
	}
	if err := OpenMetrics(io.Discard, &Report{}); err != nil {
		t.Errorf("a run without samples: %v", err)
	}
}

// inMilliseconds is a text with the times of the older format.
func inMilliseconds(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		at := strings.LastIndexByte(l, ' ')
		var s float64
		if strings.HasPrefix(l, "#") || at < 0 {
			continue
		}
		if _, err := fmt.Sscan(l[at+1:], &s); err == nil {
			lines[i] = fmt.Sprintf("%s %d", l[:at], int64(s*1000))
		}
	}
	return strings.Join(lines, "\n")
}
