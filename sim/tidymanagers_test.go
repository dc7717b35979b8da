package sim_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An address manager is one value: what is particular to one lies in folders that bear its
// name, and otherwise only the list of managers names it. linesWithManagers is how many lines
// of code name a manager elsewhere, by room; each number only goes down, and a room without an
// entry has none.
var linesWithManagers = map[string]int{
	"model/route": 1, // vxlan.calico, the device of Felix, whose routes the room is about
}

var (
	managerName  = regexp.MustCompile(`(?i)calico|whereabouts`)
	managerRooms = []string{"calico", "whereabouts", "mixed"}
	testRooms    = []string{"storytest", "large"} // imported by tests alone, which may name whom they like
)

const managerList = "cmd/managers"

func TestTidyManagers(t *testing.T) {
	module, rooms := root(t), map[string]int{}
	err := fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "bin" || name == managerList || slices.Contains(slices.Concat(managerRooms, testRooms, []string{"testdata"}), d.Name()) || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		src, err := fs.ReadFile(module, name)
		if n := linesNamingManagers(src); n > 0 {
			rooms[path.Dir(name)] += n
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for room, n := range rooms {
		switch most := linesWithManagers[room]; {
		case n > most:
			t.Errorf("%s: manager: %d lines name an address manager, at most %d may; ask ipam.Manager, or move what is particular to one into a folder of its name", room, n, most)
		case n < most:
			t.Errorf("%s: manager: %d lines name an address manager, write that down in the place of %d", room, n, most)
		}
	}
	for room := range linesWithManagers {
		if rooms[room] == 0 {
			t.Errorf("%s: manager: no line names an address manager any more, take it off the list", room)
		}
	}
}

// linesNamingManagers counts lines of code; comments do not count.
func linesNamingManagers(src []byte) int {
	var s scanner.Scanner
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(src))
	s.Init(file, src, nil, 0) // without comments
	lines := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return len(lines)
		}
		for i, line := range strings.Split(text, "\n") { // a raw string has several
			if managerName.MatchString(line) {
				lines[file.Line(pos)+i] = true
			}
		}
	}
}

func TestLinesNamingManagers(t *testing.T) {
	src := "package x // calico\n\nconst a = \"Calico\"\n\nvar b = `one\nwhereabouts`\n\nfunc newCalico() {}\n"
	if n := linesNamingManagers([]byte(src)); n != 3 {
		t.Errorf("%d lines, want 3", n)
	}
}
