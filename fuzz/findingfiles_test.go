package fuzz_test

import (
	"slices"
	"strings"
	"testing"

	"ipamsim/fuzz/finding"
)

// A campaign writes Files and removes those of them that have no content any more. So a file that a
// finding's text mentions must be one of them.
func TestWhatIsToBeReplayedIsAFile(t *testing.T) {
	f := finding.Finding{Fingerprint: "7b900887cbe2", Real: finding.Real{Verdict: finding.Confirmed, Runs: 2, Strategy: "ordered"}}
	_, name, _ := strings.Cut(f.RealText(), "ipamsim replay ")
	for _, name := range []string{name, finding.File(f.Fingerprint)} {
		if files := finding.Files(f.Fingerprint); !slices.Contains(files, name) {
			t.Errorf("%q is not among %q", name, files)
		}
	}
}
