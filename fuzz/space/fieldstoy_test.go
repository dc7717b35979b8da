package space_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

// toySpec is a configuration for tests.
type toySpec struct {
	Name     string    `json:"name"`
	Size     int       `json:"size,omitempty"`
	Mode     toyMode   `json:"mode,omitempty"`
	Sync     string    `json:"sync,omitempty" validate:"omitempty,oneof=Enabled Disabled"`
	Strict   bool      `json:"strict"`
	Old      *string   `json:"old,omitempty"`
	Gateway  string    // next to a field whose JSON key differs only in case
	Gate     string    `json:"gateway"`
	Parts    []toyPart `json:"parts"`
	internal int
}

type toyPart struct {
	Range string   `json:"range"`
	Omit  []string `json:"omit"`
	Where struct {
		Zone string `json:"zone"`
	} `json:"where"`
}

type toyMode string

// toys are documents that contain all of a toySpec, except for what is excluded.
var toys = []string{
	`{}`,
	`{"name": "a", "size": 20, "mode": "Always", "sync": "Enabled", "strict": true, "gateway": "x", "parts": [{"where": {}}]}`,
	`{"size": 26, "mode": "Never", "sync": "Disabled", "parts": [{"range": "r", "omit": ["o"], "where": {"zone": "z"}}, {"omit": ["o", "p"]}]}`,
}

// A boundary value for a field that upstream does not have is reported as an error.
func TestWalkNamesBoundsOfNothing(t *testing.T) {
	w := newWalk(map[string][]bound{"space_test.toyPart.rnage": exactly(1)}, nil, nil)
	w.root(reflect.TypeFor[toyPart](), "")
	if got := w.complaints(); !slices.Contains(got, "space_test.toyPart.rnage: it has boundary values, and there is no such thing") {
		t.Errorf("%q", got)
	}
}

func toyWalk(t *testing.T, exclusions []exclusion, documents ...string) []string {
	t.Helper()
	_ = toySpec{internal: 0}
	size := func(n float64) func(any, map[string]any) bool {
		return func(v any, _ map[string]any) bool { return v == n }
	}
	enums := func(t reflect.Type) []string {
		if t == reflect.TypeFor[toyMode]() {
			return []string{"Always", "Never"}
		}
		return nil
	}
	w := newWalk(map[string][]bound{"space_test.toySpec.size": {{"least", size(20)}, {"most", size(32)}}}, enums, exclusions)
	w.root(reflect.TypeFor[toySpec](), "")
	for _, text := range documents {
		var o map[string]any
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		w.note(reflect.TypeFor[toySpec](), o, false)
	}
	return w.complaints()
}

var toyExclusions = []exclusion{
	{"space_test.toySpec.old", "", "nobody reads it"},
	{"space_test.toySpec.Gateway", "", "nobody writes it"},
	{"space_test.toySpec.size", "most", "it takes too long"},
}

// The walk accepts fields and values that occur or are excluded, and reports all others.
func TestWalkNamesWhatIsMissing(t *testing.T) {
	const toy, missing = "space_test.toySpec.", ", and no exclusion says why"
	for _, c := range []struct {
		name       string
		exclusions []exclusion
		documents  []string
		want       []string
	}{
		{"all is drawn or excluded", toyExclusions, toys, nil},
		{"a field that nobody draws", toyExclusions[1:], toys, []string{toy + "old: no world draws it set" + missing}},
		{"a value that nobody draws", toyExclusions[:2], toys, []string{toy + "size: no world draws it most" + missing}},
		{
			"values, a bool, a list's length, and what is always there", toyExclusions, toys[1:2],
			[]string{
				toy + "mode: no world draws it Never" + missing, toy + "mode: no world draws it absent" + missing,
				toy + "name: no world draws it absent" + missing, toy + "gateway: no world draws it absent" + missing,
				toy + "parts: no world draws it absent" + missing, toy + "parts: no world draws it several" + missing,
				toy + "size: no world draws it absent" + missing, toy + "strict: no world draws it false" + missing,
				toy + "sync: no world draws it Disabled" + missing, toy + "sync: no world draws it absent" + missing,
				"space_test.toyPart.range: no world draws it set" + missing, "space_test.toyPart.omit: no world draws it one" + missing,
				"space_test.toyPart.omit: no world draws it several" + missing, "space_test.toyPart.where: no world draws it absent" + missing,
				"space_test.toyPart.where.zone: no world draws it set" + missing,
			},
		},
		{
			"an exclusion of what is drawn", append(slices.Clone(toyExclusions), exclusion{toy + "name", "", "why not"}), toys,
			[]string{toy + "name: excluded, and a world draws it set"},
		},
		{
			"an exclusion of a value that is drawn", append(slices.Clone(toyExclusions), exclusion{toy + "mode", "Always", "why not"}), toys,
			[]string{toy + "mode: Always excluded, and a world draws it Always"},
		},
		{
			"exclusions of what there is not, and without a reason",
			append(slices.Clone(toyExclusions[1:]), exclusion{toy + "older", "", "a slip"}, exclusion{toy + "mode", "Often", "a slip"}, exclusion{toy + "old", "", ""}), toys,
			[]string{toy + "mode: Often excluded, and there is no such thing", toy + "old: excluded without a reason", toy + "older: excluded, and there is no such thing"},
		},
	} {
		slices.Sort(c.want)
		if got := toyWalk(t, c.exclusions, c.documents...); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}
