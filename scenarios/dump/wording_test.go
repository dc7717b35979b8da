package dump_test

import (
	"reflect"
	"strings"
	"testing"

	"ipamsim/reports/golden"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
)

// TestWording checks that the remediation depends on the violations, not on their messages.
func TestWording(t *testing.T) {
	for _, file := range []string{"wikimedia.yaml", "whereabouts.yaml", "tkg.yaml", "calico.json"} {
		c := read(t, file)
		_, s, _ := scenario(t, c, dump.Options{})
		v := inspect(t, s)
		want := diagnosis.Of(c, v, true)
		for i := range v.Violations {
			v.Violations[i].Message = strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' {
					return 'a' + (r-'a'+1)%26
				}
				return r
			}, v.Violations[i].Message)
		}
		if got := diagnosis.Of(c, v, true); !reflect.DeepEqual(got, want) {
			t.Errorf("%s, with other messages: got %+v\nwant %+v", file, got, want)
		}
		if len(want.All) == 0 && file != "calico.json" {
			t.Errorf("%s: nothing is wrong", file)
		}
	}
}

// The document that the import writes before the manifests.
func TestImported(t *testing.T) {
	text, _, _ := scenario(t, read(t, "wikimedia.yaml"), dump.Options{})
	head, _, _ := strings.Cut(text, "\n---\n")
	golden.Check(t, "testdata/wikimedia.imported.golden", head+"\n")
}
