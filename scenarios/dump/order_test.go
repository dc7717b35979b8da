package dump_test

import (
	"bytes"
	"fmt"
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
	v := inspect(t, s)
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
		"       effect: connections between that node and the pod time out\n":                                  1,
		"       effect: two nodes can give one address to two pods\n":                                          1,
		"       evidence: 10.0.0.4 (dump.yaml:7), 10.0.0.4 (dump.yaml:7), 10.0.0.4 (dump.yaml:7) and 2 more\n": 1,
	} {
		if strings.Count(b.String(), text) != n {
			t.Errorf("want %d times %q in\n%s", n, text, b.String())
		}
	}
}

// TestCauseOfWorse: a less severe finding comes before the worse ones that it may have caused, and
// after those that it has nothing to do with.
func TestCauseOfWorse(t *testing.T) {
	violation := func(inv invariant.Invariant, objects ...model.Ref) model.Violation {
		return model.Violation{Invariant: inv.Name, Severity: inv.Severity, Objects: objects}
	}
	address, block := model.RefAddress, model.RefBlock
	causes := func(owned string) []string {
		_, s, _ := scenario(t, read(t, "wikimedia.yaml"), dump.Options{})
		v := inspect(t, s)
		v.Violations = []model.Violation{
			violation(invariant.BlackholedAddress, model.Ref{Kind: address, Name: "10.0.0.1"}),
			violation(invariant.LeakedClaim, model.Ref{Kind: address, Name: "10.0.0.2"}),
			violation(invariant.BlockOwner, model.Ref{Kind: block, Name: owned}),
		}
		var got []string
		for _, x := range diagnosis.Of(dump.New(managers.All()), v, true).All {
			got = append(got, x.Invariant)
		}
		return got
	}
	if got, want := causes("10.0.0.0/28"), []string{"block-owner", "blackholed-address", "leaked-claim"}; !slices.Equal(got, want) {
		t.Errorf("of one block: %v, want %v", got, want)
	}
	if got, want := causes("10.0.0.16/28"), []string{"blackholed-address", "block-owner", "leaked-claim"}; !slices.Equal(got, want) {
		t.Errorf("of another block: %v, want %v", got, want)
	}
}

// TestOneLinePerCause checks that findings with one remediation are one line with a count, and
// that critical findings without a known remediation are separate.
func TestOneLinePerCause(t *testing.T) {
	_, s, _ := scenario(t, read(t, "wikimedia.yaml"), dump.Options{})
	v := inspect(t, s)
	v.Violations = nil
	f := diagnosis.Of(dump.New(managers.All()), v, true)
	f.All = nil
	add := func(n, problem int, inv invariant.Invariant) {
		for range n {
			a := model.Ref{Kind: model.RefAddress, Name: fmt.Sprintf("10.0.0.%d", len(f.All))}
			f.All = append(f.All, diagnosis.Finding{Violation: model.Violation{Invariant: inv.Name, Severity: inv.Severity, Objects: []model.Ref{a}, Message: a.Name + " is broken"}, Problem: problem})
		}
	}
	add(3, 0, invariant.DuplicateAddress)
	add(4, 1, invariant.BlackholedAddress)
	add(2, 2, invariant.BlackholedAddress)
	add(9, 0, invariant.LeakedClaim)
	lines := func() (out []string) {
		var b bytes.Buffer
		f.Write(&b)
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(line, "finding: ") || strings.Contains(line, "--all") {
				out = append(out, strings.TrimSpace(line))
			}
		}
		return out
	}
	want := []string{
		"finding: duplicate-address (critical): 10.0.0.0 is broken",
		"finding: duplicate-address (critical): 10.0.0.1 is broken",
		"finding: duplicate-address (critical): 10.0.0.2 is broken",
		"finding: blackholed-address (critical, 4 times): 10.0.0.3 is broken",
		"3 others: 10.0.0.4, 10.0.0.5, 10.0.0.6; --all prints each",
		"finding: blackholed-address (critical, 2 times): 10.0.0.7 is broken",
		"1 other: 10.0.0.8; --all prints each",
		"finding: leaked-claim (minor, 9 times): 10.0.0.9 is broken",
		"8 others: 10.0.0.10, 10.0.0.11, 10.0.0.12, 10.0.0.13, 10.0.0.14 and 3 more; --all prints each",
	}
	if got := lines(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	f.Style.All = true
	if got := lines(); len(got) != len(f.All) {
		t.Errorf("with --all: %d lines of %d findings", len(got), len(f.All))
	}
}
