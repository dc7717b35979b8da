package reports

import (
	"strings"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/reports/golden"
)

// typed is a report of a run in which these commands were typed.
func typed(events ...model.Event) *Report {
	r := &Report{History: &model.History{}}
	for _, e := range events {
		e.Kind = model.Output
		r.History.Add(e)
	}
	return r
}

// TestScreens: the tables of seeds/000 stay tables.
func TestScreens(t *testing.T) {
	golden.Check(t, "testdata/screens.txt", Screens(typed(
		model.Event{At: 12 * time.Minute, Actor: "operator", Text: "calicoctl ipam show --show-configuration", Output: `
+--------------------+-------+
|      PROPERTY      | VALUE |
+--------------------+-------+
| StrictAffinity     | false |
| AutoAllocateBlocks | true  |
| MaxBlocksPerHost   |     0 |
+--------------------+-------+
`[1:]},
		model.Event{At: 12*time.Minute + time.Second, Actor: "operator~2", Node: "kubestage1001", Text: "ip route", Output: `
default via 10.64.0.1 dev eno1 onlink 
10.64.0.0/22 dev eno1 proto kernel scope link src 10.64.0.247 
blackhole 10.64.75.0/26 proto bird 
10.64.75.4 dev cali21fc9e9645e scope link 
`[1:]},
		model.Event{At: 13 * time.Minute, Actor: "operator~3", Text: "calicoctl ipam release --ip=10.64.75.0", Err: "Error: no such address\n"},
		model.Event{At: 14 * time.Minute, Actor: "operator~4", Text: "true"},
		model.Event{At: 15 * time.Minute, Actor: "operator~5", Text: "long", Output: strings.Repeat("one\n", 61)},
		model.Event{At: 16 * time.Minute, Actor: "operator~6", Text: "tabs", Output: "a\tb\tc\nlonger than eight\td\r\n"},
	)))
	if got := Screens(&Report{}) + Screens(typed()); got != "" {
		t.Errorf("nobody typed anything, but there is %q", got)
	}
}

// TestHostileScreens: what a command printed may be an object's name.
func TestHostileScreens(t *testing.T) {
	evil := "a\x1b[2J\x07\u202egnp\xff\u200b"
	text := Screens(typed(model.Event{Actor: "operator" + evil, Node: evil, Text: evil + "\n$ rm", Output: evil + "\r\n" + evil, Err: evil}))
	for _, c := range strings.ReplaceAll(text, "\n", " ") {
		if Clean(string(c)) != string(c) {
			t.Errorf("lets %q through", c)
		}
	}
	if n := strings.Count(text, "\n"); n != 4 {
		t.Errorf("%d lines, want 4:\n%s", n, text)
	}
}
