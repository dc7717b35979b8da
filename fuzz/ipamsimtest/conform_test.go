package ipamsimtest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/ipamsimtest"
	"ipamsim/scenarios"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/canary"
	"ipamsim/sim/longtest"
)

// TestConformance: every manager of ipamsim passes.
func TestConformance(t *testing.T) {
	all := scenarios.Managers(managers.All())
	names := []string{"canary", "calico", "whereabouts"}
	if !longtest.On() {
		names = names[:1]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			ipamsimtest.Conform(t, all.Find(name), "testdata/"+name+".yaml")
		})
	}
}

// brokenEnv makes TestBroken check one of broken, in a process of its own, where the test may fail.
const brokenEnv = "IPAMSIM_TEST_BROKEN"

// broken are managers with one mistake, and the expected message of Conform.
var broken = map[string]struct {
	spoil func(*ipam.Manager)
	want  string
}{
	"no upstream":    {func(m *ipam.Manager) { m.Upstream = "mine" }, `Upstream is "mine", want module@version`},
	"two names":      {func(m *ipam.Manager) { m.Processes = append(m.Processes, m.Processes...) }, `two Processes are named "canary-reconciler"`},
	"no code":        {func(m *ipam.Manager) { m.Processes = append(m.Processes, ipam.Process{Name: "x"}) }, `Processes names "x", and Instance.Run has no code for it`},
	"DEL twice":      {spoiled(delOnce), "a second DEL of the same container: not found; want success"},
	"DEL of nothing": {spoiled(delOnce), "DEL of a container that was never added: not found; want success"},
	"exhausted":      {spoiled(unwrapped), "which does not wrap ipam.ErrExhausted"},
	"act":            {spoiled(mute), "Act does not say what was in a write by cni-add"},
	"observe":        {spoiled(shuffled), "Observe said two things of one record"},
	"claims":         {spoiled(blind), "and Observe shows no claim of it for that pod"},
}

// TestBroken: Conform detects each of these mistakes.
func TestBroken(t *testing.T) {
	if name := os.Getenv(brokenEnv); name != "" {
		m := canary.New()
		broken[name].spoil(m)
		ipamsimtest.Conform(t, m, "testdata/canary.yaml")
		return
	}
	for name, x := range broken {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestBroken$/^(descriptor|open|add|del|observe|act|exhausted)$")
			cmd.Env = append(os.Environ(), brokenEnv+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), x.want) {
				t.Errorf("want %q (%v) in\n%s", x.want, err, out)
			}
		})
	}
}
