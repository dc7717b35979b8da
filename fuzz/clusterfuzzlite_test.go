package fuzz_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// .clusterfuzzlite builds the targets against its own stand-ins for testing.F and
// testing.T. Nothing compiles them before the nightly run does, so this looks
// whether they have what the targets call.
func TestClusterFuzzLiteHasWhatTargetsUse(t *testing.T) {
	const driver = "../.clusterfuzzlite/driver.go"
	has := map[string]bool{}
	for _, d := range parsed(t, driver).Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
			has[f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name+"."+f.Name.Name] = true
		}
	}
	script, err := os.ReadFile("../.clusterfuzzlite/build.sh")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(script), "fuzz/{")
	list, _, ok := strings.Cut(list, "}_test.go")
	if !ok {
		t.Fatal("build.sh does not say which files it takes")
	}
	used := 0
	for _, name := range strings.Split(list, ",") {
		for call := range calls(parsed(t, name+"_test.go")) {
			if used++; !has[call] {
				t.Errorf("%s_test.go calls %s, which %s does not have", name, call, driver)
			}
		}
	}
	if used < 4 || !has["F.Fuzz"] {
		t.Errorf("%d calls seen, of %v: this test is blind", used, has)
	}
}

func parsed(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// calls are the methods that a file calls of its *testing.F and *testing.T: "F.Fuzz".
func calls(file *ast.File) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch f := n.(type) {
		case *ast.FuncDecl:
			note(out, f.Type, f.Body)
		case *ast.FuncLit:
			note(out, f.Type, f.Body)
		}
		return true
	})
	return out
}

// note what a function calls of its parameters.
func note(out map[string]bool, sig *ast.FuncType, body *ast.BlockStmt) {
	of := map[string]string{}
	for _, p := range sig.Params.List {
		if star, ok := p.Type.(*ast.StarExpr); ok {
			if s, ok := star.X.(*ast.SelectorExpr); ok && s.X.(*ast.Ident).Name == "testing" {
				of[p.Names[0].Name] = s.Sel.Name
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && of[x.Name] != "" {
				out[of[x.Name]+"."+s.Sel.Name] = true
			}
		}
		return true
	})
}

// The files that others read are what they expect: YAML, and a script that bash
// can read.
func TestClusterFuzzLiteFiles(t *testing.T) {
	var project struct {
		Language   string
		Sanitizers []string
	}
	read(t, "../.clusterfuzzlite/project.yaml", &project)
	if project.Language != "go" || !slices.Equal(project.Sanitizers, []string{"address"}) {
		t.Errorf("project.yaml: %+v", project)
	}
	var workflow struct {
		Jobs struct {
			Change struct {
				Strategy struct{ Matrix struct{ Target []string } }
			}
		}
	}
	read(t, "../.github/workflows/fuzz.yml", &workflow)
	targets := workflow.Jobs.Change.Strategy.Matrix.Target
	for _, d := range parsed(t, "targets_test.go").Decls {
		if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Fuzz") && !slices.Contains(targets, f.Name.Name) {
			t.Errorf("fuzz.yml runs %v and not %s", targets, f.Name.Name)
		}
	}
	if out, err := exec.Command("bash", "-n", "../.clusterfuzzlite/build.sh").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
