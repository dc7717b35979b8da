package ipamsimtest

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
	"ipamsim/sim/strategy"
)

// Conform is the test that every adapter must pass. It runs the scenario of a file, in which pods are
// created, pods are deleted, and more pods need an address than there are addresses. It reports what
// is missing or wrong in the manager. Each part is a subtest:
//
//   - descriptor: names, required functions, definitions that parse
//   - open: every process has its code; a manager can be opened repeatedly
//   - add: an ADD returns addresses of the network, and the record then contains them
//   - del: a DEL of a container that is not there, or was deleted already, succeeds, as the CNI
//     specification requires; after a DEL the record has nothing of the sandbox
//   - observe: Observe passes no gate, and returns the same twice
//   - act: Act describes writes to objects of the manager's own kinds, except for kinds of
//     settings
//   - exhausted: an ADD that fails for lack of addresses wraps ipam.ErrExhausted
//   - determinism: one seed is one run, twice here and in another process
//   - crash: a process that is killed at any of its messages leaves a record that can be
//     observed
//
// The scenario must not allow faults. A part for which the scenario has no occasion fails, except for
// exhausted, which is skipped.
func Conform(t *testing.T, m *ipam.Manager, file string) {
	t.Helper()
	b := begin(t, m)
	if out := os.Getenv(digestEnv); out != "" {
		b.digest(file, out)
		return
	}
	if !t.Run("descriptor", func(t *testing.T) { report(t, describe(m)) }) {
		return
	}
	p := newProbe(m)
	watched := &bench{t: t, ctx: b.ctx, managers: scenarios.Managers{p.manager()}, runner: b.runner}
	rep, err := watched.once(watched.load(file))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	p.acts(rep)
	for _, part := range parts {
		t.Run(part, func(t *testing.T) { p.report(t, part) })
	}
	t.Run("determinism", func(t *testing.T) { b.deterministic(t, file) })
	t.Run("crash", func(t *testing.T) { report(t, b.crashes(b.load(file))) })
}

// parts are the subtests of the probe, in order.
var parts = []string{"open", "add", "del", "observe", "act", "exhausted"}

func report(t *testing.T, problems []string) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}

// describe returns what is wrong with a manager before it is opened.
func describe(m *ipam.Manager) (problems []string) {
	bad := func(is bool, format string, args ...any) {
		if is {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	if m == nil {
		return []string{"the manager is nil"}
	}
	bad(m.Name == "" || strings.ContainsAny(m.Name, " \t\n/"), "Name is %q, want one word: spec.ipam of scenario files", m.Name)
	bad(!strings.Contains(m.Upstream, "@"), "Upstream is %q, want module@version: findings say what they were recorded with", m.Upstream)
	bad(m.Open == nil, "Open is nil")
	bad(m.Network == nil && m.Primary == nil, "Network and Primary are nil: it serves no network")
	bad(m.Policy != nil && m.Network == nil, "Policy completes what Network reads, and Network is nil")
	names := map[string]bool{}
	for i, p := range m.Processes {
		bad(p.Name == "", "Processes[%d] has no name", i)
		bad(names[p.Name], "two Processes are named %q", p.Name)
		bad(p.PerNode && p.Several, "Processes[%d], %s: PerNode and Several exclude each other", i, p.Name)
		names[p.Name] = true
	}
	crds, err := m.Definitions()
	bad(err != nil, "CRDs: %v", err)
	for i, d := range crds {
		if d == nil {
			bad(true, "CRDs: definition %d is nil", i)
			continue
		}
		bad(d.Spec.Names.Kind == "" || d.Spec.Names.Plural == "" || d.Spec.Group == "", "CRDs: definition %d, %s: want group, kind and plural", i, d.Name)
		bad(len(d.Spec.Versions) == 0, "CRDs: %s has no version", d.Name)
		bad(d.Name != d.Spec.Names.Plural+"."+d.Spec.Group, "CRDs: metadata.name is %q, want %q", d.Name, d.Spec.Names.Plural+"."+d.Spec.Group)
	}
	return problems
}

// once executes a scenario's own run, in memory.
func (b *bench) once(s *scenarios.Scenario) (*reports.Report, error) {
	return b.runner.Run(b.ctx, s, scenarios.Options{Store: scenarios.Memory})
}

// digestEnv makes the test process write the digest of a run to the named file: what a seed decides must
// not depend on the process.
const digestEnv = "IPAMSIM_DIGEST"

func (b *bench) digest(file, out string) {
	b.t.Helper()
	rep, err := b.once(b.load(file))
	if err == nil {
		err = os.WriteFile(digestFile(out, file), []byte(rep.Digest+" "+rep.StoreDigest), 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// digestFile returns the file for a scenario: one test may check several managers.
func digestFile(out, file string) string {
	return out + "-" + strings.NewReplacer("/", "_", string(os.PathSeparator), "_").Replace(file)
}

// deterministic compares three runs of one seed: two here, one in another process.
func (b *bench) deterministic(t *testing.T, file string) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs runs that repeat: go run ipamsim/cmd/hermetic go test")
	}
	want, err := b.once(b.load(file))
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.once(b.load(file))
	if err != nil {
		t.Fatal("the second time: ", err)
	}
	if parted := scenarios.Parted(want, again); parted != "" {
		t.Errorf("one seed, one process, two runs: %s", parted)
	}
	out := t.TempDir() + "/digest"
	top, _, _ := strings.Cut(b.t.Name(), "/")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(exe, "-test.run=^"+top+"$", "-test.count=1")
	child.Env = append(os.Environ(), digestEnv+"="+out)
	text, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("in another process: %v\n%s", err, text)
	}
	got, err := os.ReadFile(digestFile(out, file))
	if err != nil {
		t.Fatalf("in another process: %v\n%s", err, text)
	}
	if want := want.Digest + " " + want.StoreDigest; string(got) != want {
		t.Errorf("one seed, two processes: digests of schedule and store are %s there, %s here: the manager depends on something that no seed decides, "+
			"such as an address in memory, the environment, or a clock that is not time.Now", got, want)
	}
}

// crashes kills the first process of each kind at each of its messages, in one run for each.
func (b *bench) crashes(s *scenarios.Scenario) (problems []string) {
	one := *s
	one.Doc.Spec.Faults.Max = 1
	order := scenarios.Options{Walk: strategy.NewSparse(nil), Store: scenarios.Memory}
	plain, err := b.runner.Run(b.ctx, &one, order)
	if err != nil {
		return []string{fmt.Sprintf("in the default order: %v", err)}
	}
	killed := 0
	for _, m := range firstOfEach(plain) {
		walk := strategy.NewSparse([]strategy.Exception{{Message: m, Outcome: sim.Crash}})
		if _, err := b.runner.Run(b.ctx, &one, scenarios.Options{Walk: walk, Store: scenarios.Memory}); err != nil {
			problems = append(problems, fmt.Sprintf("killed at %s: %v", m, err))
		}
		if walk.Err() == nil {
			killed++
		}
	}
	if killed == 0 {
		problems = append(problems, "not judged: no process of the manager sent a message to the API server at which it could be killed")
	}
	return problems
}

// crashMessagesMax is the number of messages of a process to try.
const crashMessagesMax = 25

// firstOfEach returns the messages of the first process of each of the manager's kinds, sorted by kind.
func firstOfEach(rep *reports.Report) (out []strategy.Message) {
	first := map[string]sim.ActorID{}
	messages := map[string][]strategy.Message{}
	for _, s := range rep.Trace.Steps {
		kind := s.Choice.Op.Actor.Kind()
		if _, ours := slices.BinarySearch(rep.Upstreams, s.Choice.Op.Actor); !ours || s.Choice.Op.Incarnation > 0 {
			continue
		}
		if _, known := first[kind]; !known {
			first[kind] = s.Choice.Op.Actor
		}
		if _, sent := s.Detail.(kube.Exchange); sent && first[kind] == s.Choice.Op.Actor && len(messages[kind]) < crashMessagesMax {
			messages[kind] = append(messages[kind], strategy.Message{Actor: s.Choice.Op.Actor, Incarnation: s.Choice.Op.Incarnation, Seq: s.Choice.Op.Seq})
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(messages)) {
		out = append(out, messages[kind]...)
	}
	return out
}
