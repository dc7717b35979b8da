package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// nested has the modules that Programs are built of, seen from the top of the repository.
const nested = "cmd/oracle/testdata"

// Program is one of upstream's: the nested module that it is built from, its package, and
// the module of upstream whose release it is.
type Program struct {
	module, pkg, of string

	Everywhere bool // it listens on every interface, and no flag changes that
}

// Programs are what can be built, by name.
var Programs = map[string]Program{
	"apiserver":               {"upstream", "./apiserver", "k8s.io/kubernetes", false},
	"kubectl":                 {"upstream", "k8s.io/kubernetes/cmd/kubectl", "k8s.io/kubernetes", false},
	"kube-controller-manager": {"upstream", "k8s.io/kubernetes/cmd/kube-controller-manager", "k8s.io/kubernetes", false},
	"metallb-controller":      {"metallb", "go.universe.tf/metallb/controller", "go.universe.tf/metallb", true},
}

// Release is the program's release, "v1.37.2", as its nested module requires it.
func (p Program) Release(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", p.of)
	cmd.Dir = filepath.Join(nested, p.module)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	b, err := cmd.Output()
	return strings.TrimSpace(string(b)), err
}

// versions are the linker's flags for what Kubernetes' release v1.37.2 says of itself.
func versions(release string) string {
	const of = " -X k8s.io/component-base/version."
	major, minor, _ := strings.Cut(strings.TrimPrefix(release, "v"), ".")
	minor, _, _ = strings.Cut(minor, ".")
	return of + "gitVersion=" + release + of + "gitMajor=" + major + of + "gitMinor=" + minor
}

// Build makes a program, unless it was made before: kube-apiserver takes minutes. It lies in
// the user's cache, not in the tree.
func Build(ctx context.Context, name string, say io.Writer) (string, error) {
	p, ok := Programs[name]
	if !ok {
		return "", fmt.Errorf("-build: want one of %s, have %q", strings.Join(slices.Sorted(maps.Keys(Programs)), ", "), name)
	}
	module := filepath.Join(nested, p.module)
	sum := sha256.New()
	sources := []string{"go.mod", "go.sum"}
	if strings.HasPrefix(p.pkg, ".") {
		sources = append(sources, filepath.Join(p.pkg, "main.go"))
	}
	for _, f := range sources {
		b, err := os.ReadFile(filepath.Join(module, f))
		if err != nil {
			return "", fmt.Errorf("%w; run it in the project's directory", err)
		}
		sum.Write(b)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "ipamsim", "oracle", hex.EncodeToString(sum.Sum(nil))[:16])
	file := filepath.Join(dir, name)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	fmt.Fprintf(say, "oracle: building %s (minutes, once)\n", name)
	release, err := p.Release(ctx)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w"+versions(release), "-o", file+".new", p.pkg)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = say, say
	if err := cmd.Run(); err != nil {
		return "", errors.Join(fmt.Errorf("%s cannot be built here: %w", name, err), os.RemoveAll(file+".new"))
	}
	return file, os.Rename(file+".new", file)
}
