package cli

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"ipamsim/fuzz/input"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
)

// skeleton is what ipamsim init writes, as templates.
//
//go:embed skeleton
var skeleton embed.FS

// skeletonFiles are the templates by the path of what they become; "<<.Name>>" is the
// manager's name.
var skeletonFiles = map[string]string{
	".github/workflows/simulation.yml": "ci.yml",
	".gitignore":                       "gitignore",
	"Makefile":                         "Makefile",
	"README.md":                        "README.md",
	"<<.Name>>.go":                     "allocator.go",
	"crd.yaml":                         "crd.yaml",
	"cmd/ipamsim/main.go":              "main.go",
	"simulation/import.go":             "import.go",
	"simulation/manager.go":            "manager.go",
	"simulation/plan.go":               "plan.go",
	"simulation/record.go":             "record.go",
	"simulation/simulation_test.go":    "simulation_test.go",
	"simulation/space.go":              "space.go",
	"plan.yaml":                        "plan.yaml",
	"scenarios/burst.yaml":             "burst.yaml",
	"scenarios/full.yaml":              "full.yaml",
	"scenarios/rollout.yaml":           "rollout.yaml",
}

// initFlags are the flags of init as typed.
type initFlags struct {
	managers                   scenarios.Managers
	Name, Module, ipamsim, dir string
}

func initCommand(m scenarios.Managers) *cobra.Command {
	f := &initFlags{managers: m}
	cmd := &cobra.Command{
		Use:   "init --manager NAME",
		Short: "write a repository skeleton for your own address manager",
		Long: `Write a repository skeleton for your own address manager into an empty folder: an
allocator of a hundred lines over one custom resource and its reconciler, with a planted
race; the adapters to run, import and plan it, and a space of scenarios to generate;
three scenarios and a plan; tests and fuzz targets; a Makefile, a CI workflow, go.mod and
go.sum. "make test" there passes, and finds the race.

Exit: 0 written · 2 the folder is not empty, or a flag is invalid: nothing was written.`,
		Example: `  ipamsim init --manager firstfree --dir ../firstfree`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := f.files()
			if err == nil {
				err = writeAll(f.dir, files)
			}
			if err == nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "ipamsim: %s for %s in %s; make test there builds it, which takes minutes the first time\n", layout.Plural(len(files), "file"), f.Name, f.dir)
			}
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.Name, "manager", "", "the manager's `NAME`: its Go package, and spec.ipam of scenarios")
	fl.StringVar(&f.Module, "import-path", "", "the Go module's path (default example.com/NAME)")
	fl.StringVar(&f.ipamsim, "module", sourceFolder(), "the folder `PATH` of ipamsim's sources, which go.mod points at while ipamsim has no public path")
	fl.StringVar(&f.dir, "dir", ".", "the folder to write into")
	return cmd
}

var (
	managerName = regexp.MustCompile(`^[a-z][a-z0-9]{0,30}$`)
	modulePath  = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*(/[A-Za-z0-9._~-]+)*$`)
	// taken are names that the skeleton cannot have: Go's, and those of its own packages
	// and functions.
	taken = strings.Fields(`act allowed apiextv1 attachment break capacity case chan cli cluster cmp const context continue default definitions draw dynamic dump dumped else errors exclude
		fallthrough fmt for func go goto if import instance interface ipam json kept kube main manifest map maps model netip network object open package plan player policy
		range read record return runtime scenarios schedule select sim simulation slices space strconv strings struct switch testing things time trial type unstructured values var yaml`)
)

// files are what is to be written, by path.
func (f *initFlags) files() (map[string][]byte, error) {
	switch {
	case f.Name == "":
		return nil, errors.New("--manager: missing; want the manager's name, e.g. firstfree")
	case !managerName.MatchString(f.Name):
		return nil, fmt.Errorf("--manager: %q is not a valid name of a Go package and a resource; want lower-case letters and digits, a letter first, 31 at most", f.Name)
	case slices.Contains(taken, f.Name):
		return nil, fmt.Errorf("--manager: %q is a Go keyword or a name that the skeleton uses; want another name", f.Name)
	case f.managers.Find(f.Name) != nil:
		return nil, fmt.Errorf("--manager: %q is a built-in manager; want another name", f.Name)
	}
	if f.Module == "" {
		f.Module = "example.com/" + f.Name
	}
	if !modulePath.MatchString(f.Module) || path.Base(f.Module) != f.Name {
		return nil, fmt.Errorf("--import-path: %q; want a module path that ends in /%s", f.Module, f.Name)
	}
	out, err := f.module()
	if err != nil {
		return nil, err
	}
	for name, from := range skeletonFiles {
		if name, err = f.fill(name); err != nil {
			return nil, err
		}
		text, err := skeleton.ReadFile("skeleton/" + from + ".txt")
		if err != nil {
			return nil, err
		}
		filled, err := f.fill(string(text))
		if err != nil {
			return nil, err
		}
		if out[name] = []byte(filled); path.Ext(name) == ".go" { // imports are sorted by the names that were filled in
			if out[name], err = format.Source(out[name]); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return out, nil
}

// Target is the fuzz target of the manager's space.
func (f *initFlags) Target() string { return input.TargetOf(f.Name) }

func (f *initFlags) fill(text string) (string, error) {
	t, err := template.New("").Delims("<<", ">>").Parse(text)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = t.Execute(&out, f)
	return out.String(), err
}

// writeAll writes files into a folder that is empty, but for a .git, or is not there.
func writeAll(dir string, files map[string][]byte) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() != ".git" {
			return fmt.Errorf("%s: not empty, it has %s; want an empty folder, and nothing was written", dir, e.Name())
		}
	}
	for name, text := range files {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
