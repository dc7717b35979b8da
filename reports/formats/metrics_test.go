package formats

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	promodel "github.com/prometheus/common/model"

	"ipamsim/model/metric"
	"ipamsim/reports"
	"ipamsim/reports/golden"
	"ipamsim/reports/storytest"
)

// TestMissingAlert: the order in which trouble would have been reported, and a
// table of what the scenario asks for, or of what ever moved.
func TestMissingAlert(t *testing.T) {
	r := storytest.Sampled(&reports.Report{Scenario: "w6-alert", Seed: 1})
	text := Metrics(r)
	r.Metrics = []string{metric.BlocksPerNode, metric.FreeBlocks, "ipamsim_nonsense"}
	text += "\nas asked for\n" + Metrics(r)
	golden.Check(t, "testdata/metrics.txt", text)
	for _, line := range strings.Split(text, "\n") {
		if n := len([]rune(line)); n > proseWidth {
			t.Errorf("%d columns, want at most %d: %s", n, proseWidth, line)
		}
	}
	if Metrics(&reports.Report{}) != "" {
		t.Error("a run without samples has metrics")
	}
}

// In a cluster with pools of both families each has a first time and a row of its own, and
// what IPv6 has plenty of hides nothing of IPv4.
func TestMetricsOfBothFamilies(t *testing.T) {
	r := &reports.Report{Scenario: "dual", Series: &metric.Series{}}
	for i := range 4 {
		four, six := max(0, i-1), max(0, i-2)
		r.Series.Add(time.Duration(i)*30*time.Second, []metric.Point{
			storytest.Point(metric.FreeBlocks, 4-i, "ippool", "four"), storytest.Point(metric.FreeBlocks, 1<<58-i, "ippool", "six"),
			storytest.Point(metric.BlackholedPairs, four+six),
			storytest.Point(metric.BlackholedPairsPerFamily, four, "family", "IPv4"), storytest.Point(metric.BlackholedPairsPerFamily, six, "family", "IPv6"),
			storytest.Point(metric.RangeSize, 14, "range", "10.0.0.0/28"), storytest.Point(metric.RangeSize, 1<<60, "range", "fd00::/68"),
			storytest.Point(metric.RangeInUse, i, "range", "10.0.0.0/28"), storytest.Point(metric.RangeInUse, i, "range", "fd00::/68"),
		})
	}
	golden.Check(t, "testdata/metrics-dual.txt", Metrics(r))
}

// TestOpenMetrics reads the text back with Prometheus' own parser, which knows
// its older format only: that differs in the unit of time and the last line.
func TestOpenMetrics(t *testing.T) {
	r := storytest.Sampled(&reports.Report{Scenario: "w6\n\"alert\"", Seed: 7})
	var b bytes.Buffer
	if err := openMetrics(&b, r); err != nil {
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
	parser := expfmt.NewTextParser(promodel.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(inMilliseconds(text)))
	if err != nil {
		t.Fatal(err)
	}
	got := families[metric.FreeBlocks].GetMetric()
	if len(got) != 8 || got[3].GetGauge().GetValue() != 1 || got[3].GetTimestampMs() != began.Add(90*time.Second).UnixMilli() {
		t.Errorf("%d samples of %s, the fourth is %v", len(got), metric.FreeBlocks, got[3])
	}
	if err := openMetrics(io.Discard, &reports.Report{}); err != nil {
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
