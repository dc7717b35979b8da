package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/managers"
)

// TestBadValues: whatever flag of whatever command is given what is no value of its
// type, the answer is one line that names the flag, the value and what would be
// right, and no function of Go's.
func TestBadValues(t *testing.T) {
	tried := 0
	for _, sub := range commands(managers.All()) {
		sub.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "string" || f.Value.Type() == "stringSlice" {
				return
			}
			for _, bad := range []string{"abc", "", "1e3", "99999999999999999999999", "1.5"} {
				tried++
				var stdout, stderr bytes.Buffer
				code := Run([]string{sub.Name(), "--" + f.Name + "=" + bad}, &stdout, &stderr, managers.All()...)
				line := stderr.String()
				if code != exit.Cannot || strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "ipamsim: --"+f.Name+": want ") || !strings.Contains(line, `"`+bad+`"`) {
					t.Errorf("%s --%s=%s: exit code %d, %s", sub.Name(), f.Name, bad, code, line)
				}
				for _, leak := range []string{"strconv", "Parse", "missing unit", "invalid duration", "syntax", "invalid argument"} {
					if strings.Contains(line, leak) {
						t.Errorf("%s --%s=%s speaks of %q: %s", sub.Name(), f.Name, bad, leak, line)
					}
				}
			}
		})
	}
	if tried < 40 {
		t.Errorf("%d values tried only", tried)
	}
}

// TestEveryTypeIsWorded: a flag of a new type needs words, too.
func TestEveryTypeIsWorded(t *testing.T) {
	for _, sub := range commands(managers.All()) {
		sub.Flags().VisitAll(func(f *pflag.Flag) {
			if _, ok := valueWanted[f.Value.Type()]; !ok && f.Value.Type() != "string" && f.Value.Type() != "stringSlice" {
				t.Errorf("%s --%s: no words for a %s", sub.Name(), f.Name, f.Value.Type())
			}
		})
	}
}
