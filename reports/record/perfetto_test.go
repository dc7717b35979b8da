package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/model/recording"
	"ipamsim/reports/storytest"
)

// traced is a run with a call that returns, one that never does, messages that were
// sent at the same time, a fault, a sandbox that stays and one that goes, and names
// that are hostile.
func traced() *Record {
	const evil = "</script><script>alert(1)</script>\"\\\u2028\n"
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	return &Record{
		Format: Format, Scenario: evil, Virtual: ms(100),
		Steps: []Step{
			{Step: 1, At: ms(10), Sent: ms(5), Actor: "cni-add/" + evil, Kind: "read", Outcome: "proceed", Key: "GET pods/" + evil, Text: "reads " + evil},
			{Step: 2, At: ms(20), Sent: ms(10), Actor: "cni-add/" + evil, Kind: "write", Outcome: "lose-reply", Fault: true, Key: "PATCH"},
			{Step: 3, At: ms(20) + 1, Sent: ms(2), Actor: "gc", Kind: "read", Outcome: "proceed", Key: "LIST"},
			{Step: 4, At: ms(20) + 2, Sent: ms(2), Actor: "gc", Kind: "read", Outcome: "proceed", Key: "LIST"},
			{Step: 5, At: ms(30), Sent: ms(30), Actor: "kubelet/a/x/y~2", Kind: "local", Outcome: "proceed", Key: "START"},
			{Step: 6, At: ms(40), Sent: ms(30), Actor: "cni-add/lost", Kind: "local", Outcome: "proceed", Key: "GET"},
		},
		Events: []Event{
			{Kind: "node", Node: "a", Text: "node a: up"},
			{Step: 0, At: ms(4), Kind: "sandbox-up", Node: "a", Pod: "x/y", Container: "c1"},
			{Step: 0, At: ms(5), Kind: "add-begin", Node: "a", Actor: "cni-add/" + evil, Pod: evil, Container: "c1"},
			{Step: 2, At: ms(20), Kind: "add-end", Node: "a", Actor: "cni-add/" + evil, Pod: evil, Container: "c1", Text: evil},
			{Step: 2, At: ms(30), Kind: "add-begin", Node: "b", Actor: "cni-add/lost", Pod: "x/z", Container: "c2"},
			{Step: 4, At: ms(50), Kind: "sandbox-down", Node: "a", Pod: "x/y", Container: "c1", Text: "gone"},
			{Step: 4, At: ms(50), Kind: "sandbox-up", Node: "b", Pod: "x/z", Container: "c2"},
			{Step: 6, At: ms(60), Kind: "operator", Actor: "operator", Text: evil},
			{Step: 6, At: ms(61), Kind: "fault", Actor: "hazard/1", Text: "hazard: reboot"},
		},
		Violations: []Violation{{At: ms(70)}},
		Recording: recording.Recording{
			Tables: []recording.Table{{Name: "pools", Columns: []string{"pool", "claimed"}}},
			Frames: []recording.Frame{{Step: 2, At: ms(20), Changes: []recording.Change{{Key: "p", Row: []string{evil, "3"}}}}, {Step: 3, At: ms(30), Changes: []recording.Change{{Key: "p"}}}},
		},
	}
}

// What is written is Trace Event JSON that a viewer can nest: of every recorded run
// of the tests, and of one with hostile names.
func TestPerfetto(t *testing.T) {
	records := map[string]*Record{"traced": traced(), "issue162": Of(storytest.Issue162()), "crowded": Of(storytest.Crowded()), "staging": Of(storytest.Staging())}
	for name, rec := range records {
		t.Run(name, func(t *testing.T) {
			var a, b bytes.Buffer
			if err := Perfetto(&a, rec); err != nil {
				t.Fatal(err)
			}
			_ = Perfetto(&b, rec)
			if !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Error("two drawings of one record differ")
			}
			if bytes.Contains(a.Bytes(), []byte("<script")) {
				t.Error("a name is not escaped")
			}
			var trace struct {
				TraceEvents []map[string]any `json:"traceEvents"`
			}
			if err := json.Unmarshal(a.Bytes(), &trace); err != nil {
				t.Fatal(err)
			}
			for _, complaint := range faultsOf(trace.TraceEvents) {
				t.Error(complaint)
			}
			count := map[string]int{}
			for _, e := range trace.TraceEvents {
				count[fmt.Sprint(e["ph"], e["cat"])]++
			}
			steps := 0
			for _, kind := range []string{"read", "write", "watch", "event", "local"} {
				steps += count["X"+kind]
			}
			if steps != len(rec.Steps) || count["iviolation"] != len(rec.Violations) {
				t.Errorf("%d slices of %d steps, %d of %d violations", steps, len(rec.Steps), count["iviolation"], len(rec.Violations))
			}
			t.Logf("%d events, %d bytes", len(trace.TraceEvents), a.Len())
		})
	}
}

// faultsOf says what the Trace Event Format, or a viewer, would not like.
func faultsOf(events []map[string]any) (out []string) {
	complain := func(e map[string]any, format string, args ...any) {
		if len(out) < 10 {
			out = append(out, fmt.Sprintf(format, args...)+fmt.Sprintf(": %v", e))
		}
	}
	type track struct{ pid, tid float64 }
	named, open, tracks := map[track]bool{}, map[string]int{}, map[track][][2]float64{}
	for _, e := range events {
		ph, _ := e["ph"].(string)
		_, name := e["name"].(string)
		ts, hasTs := e["ts"].(float64)
		pid, hasPid := e["pid"].(float64)
		tid, hasTid := e["tid"].(float64)
		at := track{pid, tid}
		switch {
		case !name || !hasTs || ts < 0 || !hasPid || !hasTid || len(ph) != 1 || !strings.Contains("XMCibe", ph):
			complain(e, "want ph, name, ts, pid and tid")
		case ph == "M":
			named[at] = true
		case !named[at] && !named[track{pid, 0}]:
			complain(e, "nobody named its process")
		case ph == "X":
			dur, ok := e["dur"].(float64)
			if !ok || dur <= 0 || !named[at] {
				complain(e, "a slice without a length or a track")
			}
			tracks[at] = append(tracks[at], [2]float64{ts, ts + dur})
		case ph == "i" && !strings.Contains("tpg", fmt.Sprint(e["s"])):
			complain(e, "an instant of no scope")
		case ph == "b" || ph == "e":
			key := fmt.Sprint(e["cat"], e["id"], pid)
			if open[key] += map[string]int{"b": 1, "e": -1}[ph]; open[key] < 0 || open[key] > 1 || e["id"] == "" {
				complain(e, "begins and ends do not match")
			}
		}
	}
	for key, n := range open {
		if n != 0 {
			complain(nil, "%s never ends", key)
		}
	}
	for at, list := range tracks {
		var stack []float64
		sortSlices(list)
		for _, s := range list {
			for len(stack) > 0 && stack[len(stack)-1] <= s[0]+1e-4 {
				stack = stack[:len(stack)-1]
			}
			if len(stack) > 0 && s[1] > stack[len(stack)-1]+1e-4 {
				complain(nil, "track %v: a slice from %f to %f reaches out of the one that ends at %f", at, s[0], s[1], stack[len(stack)-1])
			}
			stack = append(stack, s[1])
		}
	}
	return out
}

// sortSlices orders them as a viewer nests them: by beginning, the longer first.
func sortSlices(list [][2]float64) {
	slices.SortStableFunc(list, func(a, b [2]float64) int {
		switch {
		case a[0] < b[0] || a[0] == b[0] && a[1] > b[1]:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
}
