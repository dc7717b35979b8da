package model_test

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"ipamsim/model"
)

func TestFactAsJSON(t *testing.T) {
	facts := []model.Fact{
		model.NewFact("since", 72*time.Second+500*time.Millisecond+1),
		model.NewFact("counted", 0),
		model.NewFact("error", "no \"room\""),
		model.NewFact("owner", model.Ref{Kind: model.RefNode}),
		model.NewFact("site", model.CallSite{Frames: []model.Frame{{Function: "a/b.C", File: "c.go", Line: 3}}}),
	}
	text, err := json.Marshal(facts)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"name":"since","time":"1m12.500000001s"},{"name":"counted","count":0},{"name":"error","text":"no \"room\""},` +
		`{"name":"owner","ref":"node "},{"name":"site","site":{"frames":[{"function":"a/b.C","file":"c.go","line":3}]}}]`
	if string(text) != want {
		t.Errorf("have %s\nwant %s", text, want)
	}
	var back []model.Fact
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, facts) {
		t.Errorf("back: %+v, %v", back, err)
	}
	if _, err := json.Marshal(model.Fact{Name: "x", Value: 1.5}); err == nil {
		t.Error("a float is written")
	}
}

func TestFactRefusesWhatIsNone(t *testing.T) {
	for text, want := range map[string]string{
		`{"name": "since"}`:                            `fact "since": want one value, have 0`,
		`{"name": "since", "time": "1s", "count": 1}`:  `fact "since": want one value, have 2`,
		`{"name": "since", "time": "soon"}`:            `fact "since": time: invalid duration "soon"`,
		`{"name": "since", "count": "1"}`:              "cannot unmarshal string",
		`{"name": "owner", "ref": "node-1"}`:           `object "node-1": want KIND NAME`,
		`{"name": "count", "count": 1e99}`:             "cannot unmarshal number",
		`{"name": "site", "site": {"frames": "here"}}`: "cannot unmarshal string",
	} {
		var f model.Fact
		if err := json.Unmarshal([]byte(text), &f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestFactOf(t *testing.T) {
	facts := []model.Fact{model.NewFact("free", 2), model.NewFact("free", 3), model.NewFact("at", time.Second)}
	if n, ok := model.FactOf[int](facts, "free"); n != 2 || !ok {
		t.Error(n, ok)
	}
	if s, ok := model.FactOf[string](facts, "free"); s != "" || ok {
		t.Error(s, ok)
	}
	if d, ok := model.FactOf[time.Duration](facts, "since"); d != 0 || ok {
		t.Error(d, ok)
	}
}

func TestSay(t *testing.T) {
	v := model.Violation{
		Objects: []model.Ref{
			model.AddressOf(netip.MustParseAddr("10.0.0.1")), {Kind: model.RefContainer, Name: "0123456789abcdef"},
			{Kind: model.RefNode, Name: "n1"}, {Kind: model.RefNode, Name: "n2"},
		},
		Facts: []model.Fact{
			model.NewFact("since", 1500*time.Millisecond+1), model.NewFact("free", 4), model.NewFact("owner", model.Ref{Kind: model.RefNode}),
			model.NewFact("missing", model.Ref{Kind: model.RefNetwork, Name: "a"}), model.NewFact("missing", model.Ref{Kind: model.RefNetwork, Name: "b"}),
			model.NewFact("route", "{since} [x]"), model.NewFact("none", ""),
		},
	}
	for sentence, want := range map[string]string{
		"":                                     "",
		"nothing":                              "nothing",
		"{address} since {since}, {free} free": "10.0.0.1 since 1.5s, 4 free",
		"{container} is {owner}'s":             "0123456789ab is no node's",
		"of {node}":                            "of n1, n2",
		"without {missing}":                    "without a, b",
		"{address}[ since {since}][ of {pod}]": "10.0.0.1 since 1.5s",
		"[of {pod} since {since}, ]it is":      "it is",
		"of {pod}":                             "of {pod}",
		`by "{route}"`:                         `by "{since} [x]"`, // what is filled in is no sentence
		"({none})[ with {none}]":               "() with ",
	} {
		if got := v.Say(sentence); got != want {
			t.Errorf("%s: %q, want %q", sentence, got, want)
		}
	}
}
