package main

import (
	"strings"
	"testing"
)

const log = `# ipamsim trace
# seed: 7
1 0.1 0/2 proceed kubelet/worker-1#1 "GET pods" "200"
2 0.2 1/3 proceed cni-add/default/web-0#1 "GET pool" "200"
3 0.3 0/1 time "" ""
4 0.4 0/2 proceed kubelet/worker-1#2 "PATCH pods" "200"
5 0.5 0/1 proceed cni-add/default/web-0#2 "PUT pool" "200"
`

func TestDiffer(t *testing.T) {
	for _, x := range []struct{ name, now, want string }{
		{"equal", log, "5 steps; now: 5 steps\nThe runs are equal"},
		{"another choice", strings.Replace(log, "PUT pool", "PATCH pool", 1), "4 steps are equal. The first that differs:\n          2 0.2"},
		{"another number of choices", strings.Replace(log, "4 0.4 0/2", "4 0.4 0/3", 1), "The number of possible choices differs, 2 and 3"},
		{"it ends earlier", log[:strings.Index(log, "5 0.5")], "  now     (the run has ended)\n"},
		{"another head", strings.Replace(log, "seed: 7", "seed: 8", 1), "The runs are equal"},
	} {
		if got := differ("0123456789", stepsIn(log), stepsIn(x.now)).String(); !strings.Contains(got, x.want) {
			t.Errorf("%s: no %q in\n%s", x.name, x.want, got)
		}
	}
}
