// Package longtest excludes long tests from make test. They run with make test-long, which lists
// the callers of Skip and On, and with each target that names them: the Makefile sets Env for all
// targets except test.
//
// testing.Short cannot be used for this: rapid draws a fifth of its cases then, and a test that
// must meet each kind of case fails by chance.
package longtest

import (
	"flag"
	"os"
	"testing"
)

// Env is set to anything where long tests run.
const Env = "IPAMSIM_LONG"

// On reports whether long tests run.
func On() bool { return os.Getenv(Env) != "" }

// Skip skips a test that proves little per second.
func Skip(t testing.TB) {
	t.Helper()
	if !On() {
		t.Skip("SKIPPED: long; make test-long")
	}
}

// Checks sets the number of cases that rapid draws, unless -rapid.checks sets another number or
// long tests run.
func Checks(t testing.TB, cases string) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if On() || f.Value.String() != f.DefValue {
		return
	}
	if err := f.Value.Set(cases); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
}
