package versions_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/fuzz/versions"
	"ipamsim/model"
)

// program writes a program with the output of ipamsim run --json: of the seeds A to B the multiples of
// every break an invariant; for 0 none does.
func program(t *testing.T, dir, name string, every int) versions.Version {
	t.Helper()
	p := filepath.Join(dir, name)
	script := `#!/bin/sh
a=1 b=0
[ "$2" = --seeds ] && a=${3%-*} b=${3#*-}
while [ $a -le $b ]; do
	if [ EVERY -gt 0 ] && [ $((a % EVERY)) = 0 ]; then
		echo '{"verdict":"fail","violations":[{"invariant":"duplicate-address"},{"invariant":"leaked-claim"}]}'
	else
		echo '{"verdict":"pass"}'
	fi
	a=$((a + 1))
done
exit 1
`
	if err := os.WriteFile(p, []byte(strings.ReplaceAll(script, "EVERY", fmt.Sprint(every))), 0o777); err != nil {
		t.Fatal(err)
	}
	return versions.Version{Name: name, Program: p}
}

// TestMatrix: a case that breaks rarely gets more runs, the same number for every version. A version holds
// only if the one that breaks would have shown a violation.
func TestMatrix(t *testing.T) {
	dir := t.TempDir()
	c := &versions.Comparison{Seeds: 20, Most: 160, Workers: 2, Versions: []versions.Version{
		program(t, dir, "v1", 0), program(t, dir, "v2", 10), program(t, dir, "v3", 2), program(t, dir, "v4", 0),
	}}
	cases := []versions.Case{
		{Name: "dup", Violations: []string{"duplicate-address"}},
		{Name: "quiet", Violations: []string{"excluded-address"}},
		{Name: "ok"},
	}
	table, quiet := versions.Table(c.Versions, c.Run(t.Context(), cases))
	got := table.Text()
	want := strings.TrimSpace(`
scenario  violation          v1       v2       v3       v4       affected
dup       duplicate-address  0/20     2/20     10/20    0/20     from v2 until v3
quiet     excluded-address   0/160 ?  0/160 ?  0/160 ?  0/160 ?  none was seen
ok        any                0/20     2/20     10/20    0/20     from v2 until v3
`)
	if got != want || quiet != 0 {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	c.Versions = slices.Delete(c.Versions, 2, 3)
	table, quiet = versions.Table(c.Versions, c.Run(t.Context(), []versions.Case{cases[0], {Name: "ok"}}))
	got = table.Text()
	want = strings.TrimSpace(`
scenario  violation          v1    v2    v4    affected
dup       duplicate-address  0/80  8/80  0/80  from v2 until v2
ok        any                0/80  8/80  0/80  from v2 until v2
`)
	if got != want || quiet != 0 {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	c.Versions = slices.Delete(c.Versions, 1, 2)
	if _, quiet = versions.Table(c.Versions, c.Run(t.Context(), cases[2:])); quiet != 1 {
		t.Error(quiet)
	}
}

// TestUnproved: a run that proves nothing is neither counted nor an error, unless the program ended
// too early.
func TestUnproved(t *testing.T) {
	for _, c := range []struct {
		lines, want string
	}{
		{`echo '{"verdict":"unknown"}'; echo '{"verdict":"pass"}'`, "0/1 "},
		{`echo '{"verdict":"unknown"}'`, "0/0 it stopped"},
	} {
		p := filepath.Join(t.TempDir(), "v")
		if err := os.WriteFile(p, []byte("#!/bin/sh\n"+c.lines+"\necho it stopped >&2\nexit 2\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		v := versions.Version{Name: "v", Program: p}
		n := v.Run(t.Context(), &versions.Case{Name: "ok"}, 2, 3)
		if got := fmt.Sprintf("%d/%d %s", n.Broken, n.Runs, n.Err); got != c.want {
			t.Errorf("%s: got %q, want %q", c.lines, got, c.want)
		}
	}
}

// TestKept: stored counts are not computed again, and interrupted ones are not stored.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	scenario := filepath.Join(dir, "dup.yaml")
	asks := filepath.Join(dir, "asks")
	const says = "#!/bin/sh\necho >>%s\necho '{\"verdict\":\"fail\",\"violations\":[{\"invariant\":\"stuck\"}]}'\nexit 1\n"
	if err := os.WriteFile(asks, fmt.Appendf(nil, says, filepath.Join(dir, "asked")), 0o777); err != nil {
		t.Fatal(err)
	}
	compares := func() *versions.Comparison {
		return &versions.Comparison{Seeds: 1, Most: 1, Kept: &versions.Kept{Dir: filepath.Join(dir, "counts")}, Versions: []versions.Version{{Name: "v1", Program: asks}, {Name: "v2", Program: asks}}}
	}
	counted := func(ctx context.Context, text string) versions.Row {
		if err := os.WriteFile(scenario, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return compares().Run(ctx, []versions.Case{{File: scenario, Name: "dup"}})[0]
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if r := counted(over, "a"); r.Whole() {
		t.Errorf("interrupted, and counted: %+v", r)
	}
	for _, text := range []string{"a", "a", "b", "a"} {
		if r := counted(t.Context(), text); !r.Whole() || r.Cells[0].Broken != 2 {
			t.Errorf("%s: %+v", text, r)
		}
	}
	r, err := compares().Bisect(t.Context(), &versions.Case{File: scenario, Name: "dup"}, func(versions.Version) error { return nil })
	if err != nil || r.Cells[0].Broken != 2 || r.Cells[1].Broken != 2 {
		t.Errorf("bisect: %+v, %v", r, err)
	}
	if asked, err := os.ReadFile(filepath.Join(dir, "asked")); err != nil || len(asked) != 4 { // two runs of each text
		t.Errorf("asked %d times, %v", len(asked), err)
	}
}

// TestCannotRun: a version that cannot run neither holds nor breaks, and is named.
func TestCannotRun(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("#!/bin/sh\necho bad: no such flag >&2\nexit 2\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	c := &versions.Comparison{Seeds: 20, Most: 20, Versions: []versions.Version{program(t, dir, "v1", 2), {Name: "v2", Program: bad}}}
	row := c.Run(t.Context(), []versions.Case{{Name: "dup"}})[0]
	if m := row.Marks(); m[0] != versions.Breaks || m[1] != versions.Unknown || row.Cells[1].Err != "bad: no such flag" {
		t.Errorf("%v %+v", m, row.Cells)
	}
}

// TestLacks: a version that lacks what a case needs neither holds nor breaks, and is not an error. It runs
// once, and the text names what it lacks.
func TestLacks(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	const says = "#!/bin/sh\necho >>%s\necho 'x.yaml:31: net1: %sno node slices' >&2\necho 'see --help' >&2\nexit 2\n"
	if err := os.WriteFile(old, fmt.Appendf(nil, says, filepath.Join(dir, "asked"), model.NotInRelease), 0o777); err != nil {
		t.Fatal(err)
	}
	c := &versions.Comparison{Seeds: 20, Most: 80, Versions: []versions.Version{{Name: "v1", Program: old}, program(t, dir, "v2", 9), program(t, dir, "v3", 0)}}
	rows := c.Run(t.Context(), []versions.Case{{Name: "dup", Violations: []string{"duplicate-address"}}})
	table, _ := versions.Table(c.Versions, rows)
	got := table.Text() + "\n" + strings.Join(versions.Lacking(c.Versions, rows), "\n")
	want := strings.TrimSpace(`
scenario  violation          v1  v2    v3    affected
dup       duplicate-address  –   8/80  0/80  until v2
– v1: no node slices (1 scenario)
`)
	if got != want || rows[0].Cells[0].Err != "" {
		t.Errorf("got\n%s\nwant\n%s\n%+v", got, want, rows[0].Cells)
	}
	if asked, err := os.ReadFile(filepath.Join(dir, "asked")); err != nil || len(asked) != 1 {
		t.Errorf("asked %d times, %v", len(asked), err)
	}
	c.Versions = c.Versions[:2]
	rows = c.Run(t.Context(), []versions.Case{{Name: "dup"}})
	if table, _ = versions.Table(c.Versions, rows); !strings.Contains(table.Text(), "all that have it") {
		t.Error(table.Text())
	}
	c.Versions[1] = program(t, dir, "v4", 0)
	if _, quiet := versions.Table(c.Versions, c.Run(t.Context(), []versions.Case{{Name: "ok"}})); quiet != 1 {
		t.Errorf("%d of a case that breaks nothing where it can run", quiet)
	}
}

// TestCannotBeBuilt: the error gives the reason in one line: the last line of cmd/fork, or the first
// of the compiler.
func TestCannotBeBuilt(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, c := range []struct{ says, want string }{
		{"fork: it keeps x\nfork: /m/cmd: no main, which ipamsim calls (sim/x.go:1)\nexit status 2\n", "v9 cannot be built of x@v9: /m/cmd: no main, which ipamsim calls (sim/x.go:1)"},
		{"fork: it keeps x\n# ipamsim/sim\nsim/x.go:7:2: undefined: y\nsim/x.go:8:2: z\n", "v9 cannot be built of x@v9: sim/x.go:7:2: undefined: y"},
		{"what\n", "v9 cannot be built of x@v9: make: exit status 2"},
	} {
		text := "build:\n"
		for line := range strings.Lines(c.says) {
			text += "\t@echo '" + strings.TrimSpace(line) + "' >&2\n"
		}
		if err := os.WriteFile("Makefile", []byte(text+"\t@exit 2\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err := versions.Build(t.Context(), &out, versions.Version{Name: "v9", Source: "x@v9", Program: "p"})
		if err == nil || err.Error() != c.want || !strings.Contains(out.String(), c.says) {
			t.Errorf("%v, want %s\n%s", err, c.want, out.String())
		}
	}
}

// TestBisect runs four of nine versions.
func TestBisect(t *testing.T) {
	dir := t.TempDir()
	c := &versions.Comparison{Seeds: 20, Most: 20}
	for i := range 9 {
		c.Versions = append(c.Versions, program(t, dir, fmt.Sprint("v", i), min(i/6, 1)*2))
	}
	var ran []string
	ready := func(v versions.Version) error { ran = append(ran, v.Name); return nil }
	row, err := c.Bisect(context.Background(), &versions.Case{Name: "dup", Violations: []string{"leaked-claim"}}, ready)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range c.Versions {
		names = append(names, v.Name)
	}
	if got := strings.Join(ran, " "); got != "v0 v8 v4 v6 v5" {
		t.Error(got)
	}
	if got := versions.Affected(names, row.Marks()); got != "since v6" {
		t.Error(got)
	}
}

// TestAffected: the text for the marks of a row.
func TestAffected(t *testing.T) {
	const h, b, u = versions.Holds, versions.Breaks, versions.Unknown
	names := []string{"1", "2", "3", "4"}
	for _, x := range []struct {
		marks []versions.Mark
		want  string
	}{
		{[]versions.Mark{b, b, b, b}, "all"},
		{[]versions.Mark{h, h, h, h}, "none"},
		{[]versions.Mark{h, u, h, h}, "none was seen"},
		{[]versions.Mark{h, b, b, b}, "since 2"},
		{[]versions.Mark{h, u, b, b}, "since 2 or 3"},
		{[]versions.Mark{b, u, h, h}, "until 1 or 2"},
		{[]versions.Mark{h, b, h, h}, "from 2 until 2"},
		{[]versions.Mark{u, b, u, b}, "all"},
		{[]versions.Mark{b, h, b, b}, "some"},
		{[]versions.Mark{versions.Lacks, b, b, b}, "all that have it"},
		{[]versions.Mark{versions.Lacks, b, b, h}, "until 3"},
		{[]versions.Mark{versions.Lacks, h, h, h}, "none"},
	} {
		if got := versions.Affected(names, x.marks); got != x.want {
			t.Errorf("%v: %q, want %q", x.marks, got, x.want)
		}
	}
}

// TestParse: the forms of a version, and its name.
func TestParse(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"calico/go.mod", "bin/ipamsim-fork"} {
		_ = os.MkdirAll(filepath.Join(dir, filepath.Dir(f)), 0o777)
		_ = os.WriteFile(filepath.Join(dir, f), []byte("module github.com/projectcalico/calico\n"), 0o666)
	}
	for _, x := range []struct{ text, want string }{
		{"whereabouts@v0.9.0", "v0.9.0 out/whereabouts-v0.9.0 whereabouts"},
		{"old=whereabouts@v0.9.0", "old out/whereabouts-old whereabouts"},
		{dir + "/calico", "calico out/calico-calico calico"},
		{"v3.31.7=" + dir + "/calico", "v3.31.7 out/calico-v3.31.7 calico"},
		{"mine=" + dir + "/bin/ipamsim-fork", "mine " + dir + "/bin/ipamsim-fork "},
	} {
		v, err := versions.Parse(x.text, "out")
		if got := v.Name + " " + v.Program + " " + v.Manager; err != nil || got != x.want {
			t.Errorf("%s: %q, %v, want %q", x.text, got, err, x.want)
		}
	}
	for _, bad := range []string{"", "x=", "no/such/folder", "a b=whereabouts@v1", "../x=whereabouts@v1", dir} {
		if v, err := versions.Parse(bad, "out"); err == nil {
			t.Errorf("%q: %+v", bad, v)
		}
	}
}
