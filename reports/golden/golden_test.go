package golden_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"ipamsim/reports/golden"
)

// complaints is a test that only counts its calls.
type complaints struct {
	testing.TB
	errors int
}

func (c *complaints) Helper()               {}
func (c *complaints) Errorf(string, ...any) { c.errors++ }
func (c *complaints) Fatal(...any)          { c.errors += 100 }
func (c *complaints) Fatalf(string, ...any) { c.errors += 100 }

func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.golden")
	if err := os.WriteFile(file, []byte("as it was\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]int{"as it was\n": 0, "as it was": 1, "": 1} {
		c := &complaints{TB: t}
		if golden.Check(c, file, got); c.errors != want {
			t.Errorf("%q: %d complaints, want %d", got, c.errors, want)
		}
	}
	c := &complaints{TB: t}
	if golden.Check(c, file+".not-there", ""); c.errors < 100 {
		t.Error("a file that is not there is taken for an empty one")
	}
}

const archive = `# Two mistakes.
-- a.yaml --
a: 1
-- a.err --
no a
-- b.yaml --
b: 1
`

func TestCheckMember(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.txtar")
	if err := os.WriteFile(file, []byte(archive), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name, got string
		want      int
	}{{"a.err", "no a\n", 0}, {"a.err", "no b\n", 1}, {"a.err", "no a", 1}, {"b.err", "", 100}} {
		c := &complaints{TB: t}
		if golden.CheckMember(c, file, x.name, x.got); c.errors != x.want {
			t.Errorf("%s %q: %d complaints, want %d", x.name, x.got, c.errors, x.want)
		}
	}
}

// -update changes one member, keeps the others and their order, and refuses what would
// come back as another text.
func TestUpdateMember(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.txtar")
	if err := os.WriteFile(file, []byte(archive), 0o600); err != nil {
		t.Fatal(err)
	}
	before := flag.Lookup("update").Value.String()
	if err := flag.Set("update", "true"); err != nil {
		t.Fatal(err)
	}
	defer flag.Set("update", before)
	golden.CheckMember(t, file, "a.err", "no more a\n")
	golden.CheckMember(t, file, "b.err", "no b\n")
	golden.CheckMember(t, file, "a.hint", "none\n")
	for _, got := range []string{"no newline", "-- c.err --\n"} {
		c := &complaints{TB: t}
		if golden.CheckMember(c, file, "a.err", got); c.errors < 100 {
			t.Errorf("%q is written", got)
		}
	}
	const want = `# Two mistakes.
-- a.yaml --
a: 1
-- a.err --
no more a
-- a.hint --
none
-- b.yaml --
b: 1
-- b.err --
no b
`
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}
