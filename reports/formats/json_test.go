package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/model/metric"
	"ipamsim/reports"
	"ipamsim/reports/record"
	"ipamsim/reports/storytest"
)

// TestJSONFields: other people's scripts read these names.
func TestJSONFields(t *testing.T) {
	b, err := JSON(&reports.Report{Scenario: "x", Verdict: reports.Pass})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsRune(b, '\n') || !strings.Contains(string(b), `"violations":[]`) {
		t.Errorf("want one line with an empty list of violations: %s", b)
	}
	fields := func(raw []byte) (names []string) {
		dec := json.NewDecoder(bytes.NewReader(raw))
		for depth := 0; dec.More(); {
			tok, err := dec.Token()
			if err != nil {
				t.Fatal(err)
			}
			if tok == json.Delim('{') && depth == 0 {
				depth++
				continue
			}
			names = append(names, fmt.Sprint(tok))
			var skip json.RawMessage
			if err := dec.Decode(&skip); err != nil {
				t.Fatal(err)
			}
		}
		return names
	}
	want := strings.Fields("scenario upstream seed strategy store verdict steps virtualSeconds wallSeconds apiCalls digest storeDigest violations")
	if got := fields(b); !slices.Equal(got[:len(want)], want) {
		t.Errorf("fields %v, want %v first", got, want)
	}
	b, _ = JSON(storytest.Issue162())
	var full struct{ Violations []json.RawMessage }
	if err := json.Unmarshal(b, &full); err != nil {
		t.Fatal(err)
	}
	want = strings.Fields("invariant severity at step message objects")
	if got := fields(full.Violations[0]); !slices.Equal(got, want) {
		t.Errorf("fields of a violation %v, want %v", got, want)
	}
}

func TestMetricsInJSON(t *testing.T) {
	b, err := JSON(storytest.Sampled(&reports.Report{Scenario: "w6-alert"}))
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

// TestJSONSaysWhereItWasSent: so do the calls of a violation, as many as the turns of its
// story that have a call site.
func TestJSONSaysWhereItWasSent(t *testing.T) {
	said := 0
	for _, turn := range record.Of(storytest.Sited()).Violations[0].Turns {
		if turn.Site != nil {
			said++
		}
	}
	line, err := JSON(storytest.Sited())
	if err != nil {
		t.Fatal(err)
	}
	var out run
	if err := json.Unmarshal(line, &out); err != nil {
		t.Fatal(err)
	}
	calls := out.Violations[0].Calls
	if len(calls) != said || calls[0].Actor == "" || calls[0].Site.Frames[0].File != "store/client.go" || calls[0].Site.Module != "github.com/a/up@v1" {
		t.Errorf("%s", line)
	}
}

// TestJSONSaysWhatDecides: the orders of messages that decide over a violation.
func TestJSONSaysWhatDecides(t *testing.T) {
	r := storytest.Raced()
	line, err := JSON(r)
	if err != nil {
		t.Fatal(err)
	}
	var out run
	if err := json.Unmarshal(line, &out); err != nil || !slices.Equal(out.Violations[0].Races, r.Races[1:3]) {
		t.Errorf("%v: %+v", err, out.Violations[0].Races)
	}
}
