package scenarios

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	slash "path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ipamsim/scenarios/strict"
)

// library holds the scenarios, families and plans of the repository, the files of its
// tutorials, and the baseline of its gate: a program that was installed has no repository beside it.
//
//go:embed *.yaml families/*.yaml plans/*.yaml tutorials/*.yaml baseline.json
var library embed.FS

// Folders of the library. The scenarios themselves are in no folder.
const (
	Families  = "families"
	Plans     = "plans"
	Tutorials = "tutorials" // dumps, which list does not show
)

// Listed is a scenario of the library.
type Listed struct {
	Name     string   `json:"name"`     // accepted by Load
	Manager  string   `json:"manager"`  // spec.ipam
	Violates []string `json:"violates"` // invariants, sorted
	Title    string   `json:"title"`
}

// Library returns the scenarios of a folder of the library ("" for those that are in none)
// that run one of the managers, sorted by name.
func (m Managers) Library(folder string) (all []Listed) {
	for _, name := range listed(folder) {
		text, _ := library.ReadFile(slash.Join(folder, name+".yaml")) // exists: embedded
		for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
			var d struct {
				Spec struct {
					IPAM, Title string
					Expect      struct{ Violations []string }
				}
			}
			if err := dec.Decode(&d); err != nil { // io.EOF: a test loads every file
				break
			}
			if slices.Contains(m.Names(), d.Spec.IPAM) {
				all = append(all, Listed{name, d.Spec.IPAM, slices.Sorted(slices.Values(d.Spec.Expect.Violations)), d.Spec.Title})
				break
			}
		}
	}
	return all
}

// listed returns the names in a folder of the library, sorted, without extension.
func listed(folder string) (all []string) {
	entries, _ := library.ReadDir(slash.Join(".", folder)) // exists: embedded
	for _, e := range entries {
		if name, is := strings.CutSuffix(e.Name(), ".yaml"); is {
			all = append(all, name)
		}
	}
	return all
}

// Baseline returns the baseline of the library's gate.
func Baseline() []byte {
	text, _ := library.ReadFile("baseline.json") // exists: embedded
	return text
}

// ReadFile returns the text of a scenario or plan. A name that is no file may be that of a
// scenario in the library, with or without the folder scenarios and the extension.
//
// The error is a *strict.Error that names the file.
func ReadFile(name string) ([]byte, error) {
	if text, ok := InLibrary(name); ok {
		return text, nil
	}
	text, err := strict.ReadFile(name)
	if missing(name) && !strings.ContainsAny(name, "./\\") {
		problem := "no such file, and no scenario of that name in the library"
		all := slices.Concat(listed(""), listed(Families), listed(Plans))
		near := strict.Nearest(name, all)
		if i := slices.IndexFunc(all, func(s string) bool { return strings.Contains(s, name) }); near == "" && i >= 0 {
			near = all[i]
		}
		if near != "" {
			problem += fmt.Sprintf(", did you mean %q?", near)
		} else {
			problem += "; ipamsim scenarios list lists them"
		}
		err = &strict.Error{File: name, Problem: problem}
	}
	return text, err
}

func missing(file string) bool {
	_, err := os.Lstat(file)
	return os.IsNotExist(err)
}

// InLibrary returns the text of a scenario of the library; ok is false if it has none of that
// name, or if there is a file of that name, which comes first.
func InLibrary(name string) (text []byte, ok bool) {
	if !missing(name) {
		return nil, false
	}
	name = strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(name), "scenarios/"), ".yaml")
	for _, folder := range []string{"", Families, Plans, Tutorials} {
		if text, err := library.ReadFile(slash.Join(folder, name+".yaml")); err == nil {
			return text, true
		}
	}
	return nil, false
}
