package baseline

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"ipamsim/reports/golden/testfiles"
)

// Schemas of others are not stored here. Both lie in Go modules: OASIS' schema of
// SARIF 2.1.0 in the one that the logs are written with, Jenkins' of JUnit XML in
// kubeconform's, which tests its own reports with it.
const (
	sarifModule  = "github.com/owenrumney/go-sarif/v3"
	junitModule  = "github.com/yannh/kubeconform@v0.7.0"
	junitFile    = "fixtures/junit.xsd"
	junitSHA256  = "d8a77747fa141c887b0822f04a5ee0dbaa35a167c0c20c24a3f39081852907be"
	junitMustRun = "IPAMSIM_XMLLINT_REQUIRED"
)

var sarifOnce = sync.OnceValues(func() (*jsonschema.Schema, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", sarifModule).Output()
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "pkg/report/v210/sarif/schema.go"), nil, 0)
	if err != nil {
		return nil, err
	}
	lit, ok := file.Scope.Lookup("schema").Decl.(*ast.ValueSpec).Values[0].(*ast.BasicLit)
	if !ok {
		return nil, fmt.Errorf("%s has no schema", sarifModule)
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return nil, err
	}
	return testfiles.Schema([]byte(text))
})

func sarifSchema(t failer) *jsonschema.Schema {
	s, err := sarifOnce()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSARIFSchemaRefuses: the schema that the logs are held to is one.
func TestSARIFSchemaRefuses(t *testing.T) {
	good := written(t, "sarif", rich())
	for _, wrong := range [][2]string{{`"level": "error"`, `"level": "fatal"`}, {`"startLine": 7`, `"startLine": 0`}, {`"text": `, `"txet": `}, {`"uri": "scenarios/`, `"uri": "%zz`}} {
		text := strings.Replace(good, wrong[0], wrong[1], 1)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil || text == good {
			t.Fatal(wrong, err)
		}
		if sarifSchema(t).Validate(doc) == nil {
			t.Errorf("nothing is said of %s", wrong[1])
		}
	}
	if back, err := sarif.FromString(good, sarif.WithStrictValidation()); err != nil || back.Validate() != nil {
		t.Error(err, back.Validate()) // the library's own validator agrees
	}
}

// TestJUnitSchema holds the goldens, and an outcome without rows, to the schema of
// the server that most of the format's readers follow.
func TestJUnitSchema(t *testing.T) {
	lint, err := exec.LookPath("xmllint")
	if err != nil {
		if os.Getenv(junitMustRun) != "" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED: no xmllint (Debian: libxml2-utils), so JUnit XML is not held to its schema")
	}
	dir := t.TempDir()
	get := exec.Command("go", "mod", "download", "-json", junitModule)
	get.Dir, get.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := get.Output()
	var module struct{ Dir, Error string }
	if json.Unmarshal(out, &module) != nil || module.Dir == "" {
		t.Skip("SKIPPED: JUnit XML is not held to its schema: go mod download "+junitModule+":", err, module.Error)
	}
	schema := filepath.Join(module.Dir, filepath.FromSlash(junitFile))
	if text, err := os.ReadFile(schema); err != nil || fmt.Sprintf("%x", sha256.Sum256(text)) != junitSHA256 {
		t.Fatalf("%s is not the file it was: %v", schema, err)
	}
	valid := func(name, text string) error {
		file := filepath.Join(dir, name+".xml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(lint, "--nonet", "--noout", "--schema", schema, file).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
		}
		return nil
	}
	for name, o := range map[string]*Outcome{"green": green(), "rich": rich(), "empty": {}} {
		if err := valid(name, written(t, "xml", o)); err != nil {
			t.Error(err)
		}
	}
	if valid("wrong", strings.Replace(written(t, "xml", rich()), "<failure ", "<failed ", 1)) == nil {
		t.Error("the schema knows no <failed>, and nothing is said of one")
	}
}
