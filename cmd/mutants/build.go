package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"ipamsim/fuzz/mutants"
	"ipamsim/fuzz/versions"
	"ipamsim/reports/baseline"
	"ipamsim/sim/hermetic/overlay"
)

// below is where everything lies that is made; the underscore keeps it out of ./...
const below = "bin/_mutants"

// inside is where the package that switches mutants lies in a copy.
const inside = "ipamsim/mutant"

// garden is a copy of a module with mutants in it, and the program that was built of it.
type garden struct {
	settings
	dir     string // below/manager
	clone   string // the copy
	name    string // of the manager in the baseline
	program string
	sum     string // of the program, the baseline, and which scenarios are too long
	// committed is the sum of the committed baseline.
	committed string
	targets   *mutants.Targets
	set       mutants.Set
	// upstream is the release, or the folder of a fork.
	upstream string
	reached  map[string][]int // scenario's file to mutants
}

// garden makes the copy and the program.
func (s *settings) garden(ctx context.Context) (*garden, error) {
	g := &garden{settings: *s, dir: filepath.Join(below, s.manager)}
	g.program = filepath.Join(g.dir, "ipamsim")
	var err error
	if g.targets, err = mutants.ReadTargets(filepath.Join(folder(s.manager), "mutants.txt")); err != nil {
		return nil, err
	}
	if g.name = g.targets.Manager; g.name == "" {
		g.name = s.manager
	}
	// One for all managers of a module: what has no mutants in it is compiled once.
	g.clone = filepath.Join(below, "_source", path.Base(g.targets.Module))
	prepare := g.build
	if s.known {
		prepare = g.built
	}
	if err := prepare(ctx); err != nil {
		return nil, err
	}
	sum := sha256.New()
	if err := hash(sum, committed); err != nil {
		return nil, err
	}
	g.committed = fmt.Sprintf("%x", sum.Sum(nil)[:8])
	if err := hash(sum, g.program); err != nil {
		return nil, err
	}
	if s.steps > 0 {
		fmt.Fprint(sum, s.steps)
	}
	g.sum = fmt.Sprintf("%x", sum.Sum(nil)[:8])
	return g, nil
}

// folder is a manager's, which may lie within that of the manager whose record it shares.
func folder(manager string) string {
	if within, err := filepath.Glob(filepath.Join("sim", "ipam", "*", manager, "mutants.txt")); err == nil && len(within) == 1 {
		return filepath.Dir(within[0])
	}
	return filepath.Join("sim", "ipam", manager)
}

// build makes the copy and the program.
func (g *garden) build(ctx context.Context) error {
	if err := g.copy(); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "mutants: %d of %s; building %s\n", len(g.set.Mutants), g.manager, g.program)
	return versions.Build(ctx, os.Stderr, versions.Version{Name: g.manager, Source: g.clone, Program: g.program})
}

// built reads what build made before.
func (g *garden) built(context.Context) error {
	if _, err := g.from(); err != nil {
		return err
	}
	var err error
	if g.set, err = readJSON[mutants.Set](filepath.Join(g.dir, made)); err != nil {
		return fmt.Errorf("nothing is known of %s: %w", g.manager, err)
	}
	return nil
}

// made lists the mutants that are in a manager's program.
const made = "mutants.json"

// hash adds a file.
func hash(sum io.Writer, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(sum, f)
	return errors.Join(err, f.Close())
}

// from is the folder of what is copied, and sets what it is called.
func (g *garden) from() (string, error) {
	if g.upstream = g.source; g.upstream != "" {
		return g.upstream, nil
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", g.targets.Module).Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w", g.targets.Module, err)
	}
	b, err := baseline.Load(committed)
	if err != nil {
		return "", err
	}
	g.upstream = b.Upstream[g.name]
	return strings.TrimSpace(string(out)), nil
}

// copy makes the copy of the module's source and the mutants in it.
func (g *garden) copy() error {
	t, to := g.targets, g.clone
	from, err := g.from()
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(to), os.MkdirAll(to, 0o777), os.MkdirAll(g.dir, 0o777)); err != nil {
		return err
	}
	if err := copyModule(from, to); err != nil {
		return err
	}
	flags, err := g.flags(to)
	if err != nil {
		return err
	}
	var files []mutants.File
	if files, g.set, err = t.Make(flags, t.Module+"/"+inside); err != nil {
		return err
	}
	files = append(files, mutants.File{Path: inside + "/mutant.go", Text: mutants.Source})
	for _, f := range files {
		path := filepath.Join(to, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Text, 0o666); err != nil {
			return err
		}
	}
	return writeJSON(filepath.Join(g.dir, made), &g.set)
}

// flags are the arguments by which the go command sees the copy as the program is built
// with it, before anything in it is changed. The release is what its copy is, and its
// packages may be compiled already.
func (g *garden) flags(dir string) ([]string, error) {
	every, err := overlay.Path()
	if err != nil && !errors.Is(err, overlay.ErrMisfit) {
		return nil, err
	}
	if g.source == "" {
		return []string{"-overlay=" + every}, nil
	}
	c := exec.Command("go", "run", "./cmd/fork", "-pinned", dir)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go run ./cmd/fork: %w", err)
	}
	return []string{"-modfile=" + strings.TrimSpace(string(out)), "-overlay=" + every}, nil
}

// copyModule copies a module's folder, whose files may be read-only. Tests and what they
// read stay behind, and what git keeps.
func copyModule(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "vendor"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		case !d.Type().IsRegular() || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o666)
	})
}
