package timeline

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/golden"
	"ipamsim/reports/layout"
	"ipamsim/reports/storytest"
	"ipamsim/sim"
)

// TestTimelineSaysWhichLine: the messages on which the story turns have a number, and
// under the verdict it says which line of the manager's source sent them.
func TestTimelineSaysWhichLine(t *testing.T) {
	r := storytest.Sited()
	golden.Check(t, "testdata/sited.timeline", Of(r, &r.Violations[0]))
}

// TestTimelineFitsWithItsLegend: of more places than there are lines the weightiest are
// named; the story loses no line to them.
func TestTimelineFitsWithItsLegend(t *testing.T) {
	for name, r := range map[string]*reports.Report{"issue162": storytest.Issue162(), "crowded": storytest.Crowded(), "staging": storytest.Staging()} {
		plain := strings.Count(Of(r, &r.Violations[0]), "\n")
		everywhere(r)
		text := Of(r, &r.Violations[0])
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) > min(plain+codeLines+3, linesMax+codeLines) { // a number may need a line of its own
			t.Errorf("%s: %d lines, %d without the legend", name, len(lines), plain)
		}
		for _, l := range lines {
			if n := utf8.RuneCountInString(l); n > layout.Width {
				t.Errorf("%s: %d columns: %s", name, n, l)
			}
		}
		code := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "   code: github.com/a/up@v1") })
		verdict := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "=> ") })
		last := len(lines) - 1
		if code < verdict || verdict < 0 || last-code > codeLines || !strings.HasPrefix(lines[last], "   reproduce: ") {
			t.Errorf("%s:\n%s", name, text)
		}
		for _, l := range lines[code+1 : last] {
			mark, _, _ := strings.Cut(strings.TrimSpace(l), " ")
			if strings.Count(strings.Join(lines[:verdict], "\n"), mark) == 0 {
				t.Errorf("%s: no line says %s", name, mark)
			}
		}
	}
}

// everywhere gives every message a call site of its own, some of them two.
func everywhere(r *reports.Report) {
	for i, s := range r.Trace.Steps {
		s.Stack = sim.Stack{uintptr(i/2 + 1)}
	}
	r.Sites = func(s sim.Stack) model.CallSite {
		n := int(s[0])
		return model.CallSite{Module: "github.com/a/up@v1", Frames: []model.Frame{
			{Function: "github.com/a/up/pkg/store.(*Client).Get", File: "pkg/store/client.go", Line: n},
			{Function: "github.com/a/up/pkg/loop.Loop.Free", File: "pkg/loop/loop.go", Line: 1000 - n},
		}}
	}
}

// TestPlaceFits: a place is on one line, and what is left out of a long one is what says
// least.
func TestPlaceFits(t *testing.T) {
	const up = "github.com/a/up/"
	long := strings.Repeat("x", 30)
	frame := func(dir, file, function string, line int) model.Frame {
		return model.Frame{Function: up + dir + "." + function, File: dir + "/" + file, Line: line}
	}
	pool, loop := frame("pkg/store", "pool.go", "(*Pool).Update", 231), frame("pkg/loop", "loop.go", "Loop.Free", 7)
	for _, c := range []struct {
		name   string
		frames []model.Frame
		want   string
	}{
		{"alone", []model.Frame{pool}, "pkg/store/pool.go:231 (*Pool).Update"},
		{"called", []model.Frame{pool, loop}, "pkg/store/pool.go:231 (*Pool).Update ← pkg/loop/loop.go:7 Loop.Free"},
		{"from its own folder", []model.Frame{pool, frame("pkg/store", "client.go", "Client.Do", 9)}, "pkg/store/pool.go:231 (*Pool).Update ← client.go:9 Client.Do"},
		{"without the caller's name", []model.Frame{pool, frame("pkg/loop", "loop.go", long, 7)}, "pkg/store/pool.go:231 (*Pool).Update ← pkg/loop/loop.go:7"},
		{"without folders", []model.Frame{frame("pkg/"+long+"/store", "pool.go", "(*Pool).Update", 231), loop}, "store/pool.go:231 (*Pool).Update ← loop/loop.go:7 Loop.Free"},
		{"without any", []model.Frame{frame("pkg/store", "pool.go", "(*Pool)."+long, 231), frame("pkg/"+long, "loop.go", long, 7)}, "pool.go:231 (*Pool)." + long + " ← loop.go:7"},
		{"cut", []model.Frame{frame("pkg/store", "pool.go", long+long+long, 231)}, ("pool.go:231 " + long + long + long)[:71] + "…"},
	} {
		p := &place{site: model.CallSite{Frames: c.frames}}
		if got := p.line(72); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLegendOfTwoManagers: each place says whose it is.
func TestLegendOfTwoManagers(t *testing.T) {
	at := func(module string, number int) *place {
		return &place{number: number, site: model.CallSite{Module: module, Frames: []model.Frame{{Function: "x/pkg.F", File: "pkg/f.go", Line: 1}}}}
	}
	got := strings.Join(legend([]*place{at("github.com/a/up@v1", 1), at("github.com/b/down@v2 => ../down", 2)}), "\n")
	const want = `   code: github.com/a/up@v1 + github.com/b/down@v2 => ../down
   [1] up: pkg/f.go:1 F
   [2] down: pkg/f.go:1 F`
	if got != want {
		t.Errorf("have\n%s", got)
	}
}

// TestSource: the lines that the numbers stand for, or the reason why there are none.
func TestSource(t *testing.T) {
	r := storytest.Sited()
	sites := r.Sites
	for _, c := range []struct {
		name, root string
		want       []string
	}{
		{"there", "/up", []string{"[2] step 82, in github.com/a/up@v1\n    store/pool.go:231 (*Pool).Update\n", "    >   231  \tline 231\\x1b[31m", "called by loop/loop.go:200 Loop.Free", "      230  "}},
		{"gone", "/gone", []string{"(the source is not on this machine; at build time it was /gone/store/pool.go)"}},
		{"another", "/other", []string{"(/other/store/pool.go differs from the source of this program: another version, or edited since)"}},
		{"not said", "", []string{"built without source paths"}},
	} {
		r.Sites = func(s sim.Stack) model.CallSite {
			site := sites(s)
			site.Root = c.root
			return site
		}
		got := Source(r, &r.Violations[0], upstreams)
		for _, w := range c.want {
			if w = strings.ReplaceAll(w, "\t", tabbed); !strings.Contains(got, w) {
				t.Errorf("%s: no %q in\n%s", c.name, w, got)
			}
		}
		if again := Source(r, &r.Violations[0], upstreams); again != got {
			t.Errorf("%s: two renderings differ", c.name)
		}
	}
	if got := Source(storytest.Issue162(), &storytest.Issue162().Violations[0], upstreams); got != "" {
		t.Errorf("of no call sites: %q", got)
	}
}

const tabbed = "        "

// upstreams are the files of the manager of sited: line n says so.
func upstreams(path string) ([]byte, error) {
	if !strings.HasPrefix(path, "/up/") && !strings.HasPrefix(path, "/other/") {
		return nil, fs.ErrNotExist
	}
	begins := map[string]map[int]string{
		"/up/store/client.go":  {100: "func (c *Client) GetPod() {"},
		"/up/store/pool.go":    {10: "func retry() {", 200: "func (p *Pool) Update() {"},
		"/up/loop/loop.go":     {130: "func (l Loop) refresh() {", 190: "func (l Loop) Free() {"},
		"/other/store/pool.go": {200: "func (p *Pool) Delete() {"},
	}[path]
	var b strings.Builder
	for n := 1; n <= 300; n++ {
		if line := begins[n]; line != "" {
			b.WriteString(line + "\n")
			continue
		}
		b.WriteString("\tline " + strconv.Itoa(n) + "\x1b[31m\n")
	}
	return []byte(b.String()), nil
}

// TestSourceIsOfTheFunction: a line is shown if it is in the function that it should be
// in, whatever the compiler calls the parts of that.
func TestSourceIsOfTheFunction(t *testing.T) {
	file := strings.Split("package p\nvar f = func() {\n\tx()\n}\nfunc (a *T[K]) M(x int) {\n\tx()\n}\nfunc F[K any]() {\n\tx()\n}\nfunc Fail() {\n\tx()\n}", "\n")
	for _, c := range []struct {
		function string
		line     int
		want     bool
	}{
		{"(*T[...]).M", 6, true}, {"(*T).M.func1.2", 6, true}, {"(*T).M-range1", 6, true}, {"(*T).M.gowrap1", 6, true}, {"(*T).N", 6, false},
		{"F[...]", 9, true}, {"F", 6, false}, {"F", 12, false}, {"T.M", 6, true}, {"Outer.M.func3", 6, true},
		{"glob..func1", 3, true}, {"init.func1", 3, true}, {"F", 3, false}, {"glob..func1", 99, false}, {"F", 0, false},
	} {
		if got := holds(file, model.Frame{Function: "github.com/a/up/p." + c.function, Line: c.line}); got != c.want {
			t.Errorf("%s at %d: %v", c.function, c.line, got)
		}
	}
}
