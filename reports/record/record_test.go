package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/model/recording"
	"ipamsim/reports/storytest"
)

// recorded is a record with one of everything.
func recorded(t *testing.T) *Record {
	t.Helper()
	r := storytest.Issue162()
	r.Recording = &recording.Recording{
		Tables: []recording.Table{{Name: "claims", Columns: []string{"address", "network", "pod", "container"}}},
		Frames: []recording.Frame{{Step: 0, Changes: []recording.Change{{Key: "10.0.0.1", Row: []string{"10.0.0.1", "default/net", "default/web-0", "c0"}}}}},
	}
	return Of(r)
}

// A record comes back from a file as it was.
func TestRecordRoundTrip(t *testing.T) {
	want := recorded(t)
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if len(got.Steps) == 0 || len(got.Events) == 0 || len(got.Violations[0].Turns) == 0 || len(got.Addresses) != 1 || got.Violations[0].Meaning == "" {
		t.Errorf("a record with nothing in it: %+v", got)
	}
}

// A file that is none, or that was changed, is refused with where and what is
// wrong.
func TestReadRecordRefuses(t *testing.T) {
	for want, change := range map[string]func(*Record){
		`format: want "ipamsim.dev/record/v1", have "v2"`: func(r *Record) { r.Format = "v2" },
		"virtual: want a time from 0":                     func(r *Record) { r.Virtual = -1 },
		"steps[1]: want step 2":                           func(r *Record) { r.Steps[1].Step = 7 },
		"steps[2]: want step 3, not before":               func(r *Record) { r.Steps[2].At = 0 },
		"events[1]: want one of steps":                    func(r *Record) { r.Events[1].Step = 1 << 40 },
		"violations[0]: want a step up to":                func(r *Record) { r.Violations[0].Step = -1 },
		"violations[0].turns[0]: want a step":             func(r *Record) { r.Violations[0].Turns[0].Step = 1 << 40 },
		`addresses[0].addr: want an IP address, have "a"`: func(r *Record) { r.Addresses[0].Addr = "a" },
		"addresses[0].spans[0]: want an end after":        func(r *Record) { r.Addresses[0].Spans[0].From = 1 << 40 },
		"film: frame 0: no table 7":                       func(r *Record) { r.Recording.Frames[0].Changes[0].Table = 7 },
		"film: frame 0: a row of claims: want 4 cells":    func(r *Record) { r.Recording.Frames[0].Changes[0].Row = []string{""} },
		"film: want frames of":                            func(r *Record) { r.Recording.Frames[0].Step = 1 << 40 },
	} {
		rec := recorded(t)
		change(rec)
		b, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(bytes.NewReader(b)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for text, want := range map[string]string{
		"":                          "no JSON: it ends too early",
		"{":                         "no JSON: it ends too early",
		"nonsense":                  "no JSON: at byte 2",
		"[]":                        "want a record, have array",
		`{"format": 7}`:             "format: want string, have number",
		`{"steps": [{"at": "1s"}]}`: "steps.at: want",
		"{}":                        `format: want "ipamsim.dev/record/v1", have ""`,
		`{} {}`:                     "want one record",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
