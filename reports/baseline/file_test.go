package baseline

import (
	"strings"
	"testing"
)

// TestReadRefuses: what is wrong with a file is one line that says where.
func TestReadRefuses(t *testing.T) {
	file := func(scenarios string) string {
		return `{"format":"ipamsim.dev/baseline/v1","upstream":{},"tolerances":{},"scenarios":[` + scenarios + "]}"
	}
	const run = `"runs":[{"seed":1,"steps":2,"digest":"0123456789abcdef","store":"x"}]`
	for _, x := range []struct{ name, text, want string }{
		{"nothing", "", "unexpected end of JSON input"},
		{"no JSON", "{\n\n\"format\":}", "line 3: invalid character"},
		{"another format", `{"format":"ipamsim.dev/baseline/v0"}`, `format: want "ipamsim.dev/baseline/v1", have "ipamsim.dev/baseline/v0"`},
		{"another file of ours", `{"format":"ipamsim.dev/record/v1"}`, "format: want"},
		{"a field that nobody knows", file(`{"scenario":"a",` + run + `,"rate":1}`), `unknown field "rate"`},
		{"a word where a number belongs", "{\"format\":\"ipamsim.dev/baseline/v1\",\n\"scenarios\":[{\"scenario\":\"a\",\"wide\":\"many\"}]}", "line 2: scenarios"},
		{"no runs", file(`{"scenario":"a"}`), "scenarios[0] (a).runs: missing"},
		{"a digest that is none", file(`{"scenario":"a","runs":[{"seed":1,"digest":"xyz"}]}`), "runs[0].digest: want 16 hexadecimal digits"},
		{"names out of order", file(`{"scenario":"b",` + run + `},{"scenario":"a",` + run + `}`), "scenarios[1] (a): want names in order"},
		{"a name twice", file(`{"scenario":"a",` + run + `},{"scenario":"a",` + run + `}`), "scenarios[1] (a): want names in order, each once"},
		{"a rate of more runs than there were", file(`{"scenario":"a",` + run + `,"wide":10,"rates":{"stuck":11}}`), "rates[stuck]: want 1 to 10, have 11"},
		{"a cost of less than nothing", file(`{"scenario":"a",` + run + `,"costs":{"x":[1,-1,1,1,1]}}`), "costs[x]: want [sum, of >= 0"},
		{"a cost with four numbers", file(`{"scenario":"a",` + run + `,"costs":{"x":[1,1,1,1]}}`), "want [sum, of, low, median, high]"},
		{"a tolerance below nothing", `{"format":"ipamsim.dev/baseline/v1","tolerances":{"x":{"relative":-1,"absolute":0,"pooled":0}}}`, "tolerances[x]: want numbers of at least 0"},
		{"two files in one", file("") + file(""), "line 1: invalid character"},
	} {
		_, err := Read(strings.NewReader(x.text))
		if err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", x.name, err, x.want)
		}
	}
}

// FuzzRead: any text is refused in one line, or is a baseline that can be compared.
func FuzzRead(f *testing.F) {
	f.Add(`{"format":"ipamsim.dev/baseline/v1","scenarios":[{"scenario":"r1","runs":[{"seed":1,"digest":"0123456789abcdef"}],"wide":2,"rates":{"x":1},"costs":{"API calls per ADD":[1,2,3,4,5]}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		b, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		now := []Result{{Scenario: "r1", Manager: "m", Runs: three("b", "x"), Wide: many(100, 50, "b", "x")}}
		Compare(b, now, true)
		Doubts(b, narrow(now))
		Stale(b, now, func(*Result) int { return 100 })
	})
}

// TestSeeds: a scenario's own first, each once.
func TestSeeds(t *testing.T) {
	for _, x := range []struct {
		own  uint64
		n    int
		want []uint64
	}{{1, 3, []uint64{1, 2, 3}}, {2, 3, []uint64{2, 1, 3}}, {269, 3, []uint64{269, 1, 2}}, {5, 1, []uint64{5}}} {
		got := SeedsOf(x.own, x.n)
		for i := range x.want {
			if len(got) != x.n || got[i] != x.want[i] {
				t.Errorf("%d seeds of %d: %v, want %v", x.n, x.own, got, x.want)
				break
			}
		}
	}
	if WideOf(50) != 100 || WideOf(5_000) != 20 || WideOf(1_000_000) != 12 || WideOf(0) != 100 {
		t.Error(WideOf(50), WideOf(5_000), WideOf(1_000_000), WideOf(0))
	}
}
