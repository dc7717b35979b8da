package timeline

import (
	"strings"
	"testing"
)

// The number of a message stands behind it at whatever width, and nothing else does: a
// control character would spoil the file of a finding (calico, seed 1476).
func TestNotedAtEveryWidth(t *testing.T) {
	e := &entry{place: &place{number: 6}}
	const text = "deletes kubestage1003.eqiad.wmnet-k8s-web--1--d9hz9-eth0"
	for width := 4; width < 70; width++ {
		lines := e.noted(text, width)
		all := strings.Join(lines, "")
		if strings.ContainsFunc(all, func(r rune) bool { return r < ' ' }) || !strings.HasSuffix(strings.ReplaceAll(all, " ", ""), "eth0[6]") {
			t.Errorf("at width %d: %q", width, lines)
		}
	}
}
