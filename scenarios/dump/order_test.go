package dump_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
)

// TestCausesFirst: of findings that are equally bad, what makes others comes before them; each
// invariant's effect is written once.
func TestCausesFirst(t *testing.T) {
	violation := func(inv invariant.Invariant, addr string) model.Violation {
		return model.Violation{Invariant: inv.Name, Severity: inv.Severity, Objects: []model.Ref{{Kind: model.RefAddress, Name: addr}}}
	}
	_, s, _ := scenario(t, read(t, "wikimedia.yaml"), dump.Options{})
	v := look(t, s)
	v.Violations = []model.Violation{
		violation(invariant.LeakedClaim, "10.0.0.9"), violation(invariant.BlackholedAddress, "10.0.0.1"), violation(invariant.BlackholedAddress, "10.0.0.2"),
		violation(invariant.DuplicateAddress, "10.0.0.3"), violation(invariant.OverlappingBlocks, "10.0.0.4"),
	}
	f := diagnosis.Of(dump.New(managers.All()), v, true)
	var got []string
	for i := range f.All {
		got = append(got, f.All[i].Invariant)
	}
	want := []string{"overlapping-blocks", "duplicate-address", "blackholed-address", "blackholed-address", "leaked-claim"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	f.Style.Places = func(refs []model.Ref) []string {
		return slices.Repeat([]string{refs[0].Name + " (dump.yaml:7)"}, 5)
	}
	var b bytes.Buffer
	f.Write(&b)
	for text, n := range map[string]int{
		"       effect: connections between that node and the pod time out\n":                                    1,
		"       effect: two nodes can give one address to two pods\n":                                            1,
		"       known from: 10.0.0.4 (dump.yaml:7), 10.0.0.4 (dump.yaml:7), 10.0.0.4 (dump.yaml:7) and 2 more\n": 1,
	} {
		if strings.Count(b.String(), text) != n {
			t.Errorf("want %d times %q in\n%s", n, text, b.String())
		}
	}
}
