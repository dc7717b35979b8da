package scenarios_test

import (
	"os/exec"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/space"
	"ipamsim/reports/answer"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/plan"
	"ipamsim/sim/gomod"
	"ipamsim/sim/ipam"
	"ipamsim/sim/strategy"
)

// Each manager is found by its name, says which version it is, and opens; whatever hangs
// on it is of a type that a layer asks for, and what draws worlds for it draws its own.
func TestManagers(t *testing.T) {
	for _, m := range managers.All() {
		if managers.All().Find(m.Name) != m || m.Upstream == "" || m.Open == nil || m.Network == nil && m.Primary == nil {
			t.Errorf("%s: two of one name, or something is missing", m.Name)
		}
		for _, member := range m.Members {
			if managers.All().Find(member) == nil {
				t.Errorf("%s: there is no %s", m.Name, member)
			}
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case space.Space, input.Target, []strategy.Share, *diagnosis.Remedies, plan.Manager, answer.Manager:
			case *dump.Importer:
				if p.Title == "" || p.Sign == "" && m.Read != nil && !p.Last || len(p.Resources) == 0 || p.Open == nil {
					t.Errorf("%s: its importer lacks something", m.Name)
				}
			default:
				t.Errorf("%s: a %T is not used", m.Name, p)
			}
		}
		if part, ok := ipam.Part[space.Space](m); ok {
			if s, err := space.Draw(managers.All(), part.Name, 1); err != nil || s.Manager() != m {
				t.Errorf("%s: its space draws another's: %v", m.Name, err)
			}
		}
	}
}

// TestClientGo: a process has client-go's features of the release that upstream's go.mod
// names; of the build itself, where that is the same minor release.
func TestClientGo(t *testing.T) {
	ours := goList(t, "{{.Version}}", "k8s.io/client-go")
	seen := 0
	for _, m := range managers.All() {
		module, _, _ := strings.Cut(m.Upstream, "@")
		if module == "k8s.io/kubernetes" || strings.HasPrefix(module, "ipamsim/") || len(m.Members) > 0 {
			continue // its client-go is that of the build, or its members are in the list
		}
		for _, p := range m.Processes {
			if p.Reference {
				continue
			}
			got, want := p.ClientGo, clientGo(t, goList(t, "{{.GoMod}}", module))
			if got == "" {
				got = ours
			}
			if want = minor(want); minor(got) != want {
				t.Errorf("%s, %s: ClientGo is %q, upstream's go.mod has %s", m.Name, p.Name, p.ClientGo, want)
			}
			seen++
		}
	}
	if seen == 0 {
		t.Error("want a process of a manager that has a client-go of its own")
	}
}

// minor of "v0.33.5" is "0.33".
func minor(version string) string {
	a := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	return a[0] + "." + a[1]
}

// clientGo is the release of client-go that a go.mod file builds with.
func clientGo(t *testing.T, file string) string {
	m, err := gomod.Read(file)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	version := m.Requires("k8s.io/client-go")
	if by, ok := m.Replaced("k8s.io/client-go"); ok {
		version = by.Version
	}
	if version == "" {
		t.Fatalf("%s requires no k8s.io/client-go", file)
	}
	return version
}

// goList is what `go list -m` says of a module.
func goList(t *testing.T, format, module string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", format, module).Output()
	if err != nil {
		t.Fatalf("go list -m %s: %v", module, err)
	}
	return strings.TrimSpace(string(out))
}
