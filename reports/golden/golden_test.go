package golden_test

import (
	"os"
	"path/filepath"
	"testing"

	"ipamsim/reports/golden"
)

// complaints is a test that only counts what it is told.
type complaints struct {
	testing.TB
	errors int
}

func (c *complaints) Helper()               {}
func (c *complaints) Errorf(string, ...any) { c.errors++ }
func (c *complaints) Fatal(...any)          { c.errors += 100 }

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
