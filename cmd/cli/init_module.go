package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"

	"ipamsim/sim/gomod"
)

// ours is this module's path.
const ours = "ipamsim"

// direct are the modules that the skeleton's packages import.
var direct = []string{"k8s.io/apiextensions-apiserver", "k8s.io/apimachinery", "k8s.io/client-go", "sigs.k8s.io/yaml"}

// module renders the go.mod and go.sum of a module that uses this one: its requirements in the same
// versions, and the replace directives that k8s.io/kubernetes needs, which a module does not
// inherit.
func (f *initFlags) module() (map[string][]byte, error) {
	if f.ipamsim == "" {
		return nil, errors.New("--module: missing; want the folder of ipamsim's sources, which this build does not contain")
	}
	dir, err := filepath.Abs(f.ipamsim)
	if err != nil {
		return nil, err
	}
	m, err := readModule(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("--module: %w", err)
	}
	sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return nil, fmt.Errorf("--module: %w", err)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "module %s\n\ngo %s\n\nrequire (\n\t%s v0.0.0\n", f.Module, m.Go, ours)
	for _, r := range m.Require {
		if slices.Contains(direct, r.Path) {
			fmt.Fprintf(&out, "\t%s\n", r)
		}
	}
	fmt.Fprint(&out, ")\n\nrequire (\n")
	for _, r := range m.Require {
		if !slices.Contains(direct, r.Path) {
			fmt.Fprintf(&out, "\t%s // indirect\n", r)
		}
	}
	fmt.Fprintf(&out, ")\n\nreplace %s => %s\n\n// The same as in %s: k8s.io/kubernetes requires versions of modules that do not exist.\nreplace (\n", ours, quoted(dir), ours)
	for _, r := range m.Replace {
		fmt.Fprintf(&out, "\t%s => %s\n", r.Old, r.New)
	}
	fmt.Fprint(&out, ")\n")
	return map[string][]byte{"go.mod": out.Bytes(), "go.sum": sum}, nil
}

func readModule(file string) (*gomod.File, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	m, err := gomod.Read(file)
	if err != nil {
		return nil, err
	}
	if m.Module.Path != ours {
		return nil, fmt.Errorf("%s is module %q, want the sources of %s", file, m.Module.Path, ours)
	}
	return m, nil
}

var plainPath = regexp.MustCompile(`^[A-Za-z0-9_./:+~-]+$`)

// quoted is a path as go.mod wants it.
func quoted(dir string) string {
	if plainPath.MatchString(dir) {
		return dir
	}
	return strconv.Quote(dir)
}

// sourceFolder is where the sources lay that this program was built of, "" if they are
// gone or the build does not say.
func sourceFolder() string {
	fn := runtime.FuncForPC(reflect.ValueOf(sourceFolder).Pointer())
	file, _ := fn.FileLine(fn.Entry())
	dir := filepath.Dir(filepath.Dir(filepath.Dir(file))) // cmd/cli/init_module.go
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}
