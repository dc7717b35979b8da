package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"ipamsim/cmd/cli/regression"
	"ipamsim/cmd/managers"
	"ipamsim/reports/golden/testfiles"
	"ipamsim/scenarios"
)

// The files that CI servers read, held to what they promise. actionlint holds those
// of GitHub to GitHub's language (make lint), GitLab's own schema that of GitLab.

// ciJob is a job of either server, as far as the rules below look at it.
type ciJob struct {
	Timeout     any               `yaml:"timeout-minutes"` // GitHub
	TimeoutText string            `yaml:"timeout"`         // GitLab
	Permissions map[string]string `yaml:"permissions"`
	Steps       []struct {
		Uses string            `yaml:"uses"`
		Run  string            `yaml:"run"`
		With map[string]string `yaml:"with"`
	} `yaml:"steps"`
	Script    []string `yaml:"script"`
	Artifacts struct {
		When    string            `yaml:"when"`
		Paths   []string          `yaml:"paths"`
		Reports map[string]string `yaml:"reports"`
	} `yaml:"artifacts"`
}

// commands are what a job runs, line by line.
func (j *ciJob) commands() []string {
	out := slices.Clone(j.Script)
	for _, s := range j.Steps {
		out = append(out, strings.Split(strings.TrimSpace(s.Run), "\n")...)
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// kept are the folders and files that a job hands on.
func (j *ciJob) kept() []string {
	out := slices.Clone(j.Artifacts.Paths)
	for _, s := range j.Steps {
		if strings.HasPrefix(s.Uses, "actions/upload-artifact@") {
			out = append(out, s.With["path"])
		}
	}
	return out
}

var (
	pinned     = regexp.MustCompile(`^[\w.-]+/[\w./-]+@v\d+(\.\d+)*$`)
	expression = regexp.MustCompile(`\$\{\{\s*([\w.-]+)`)
	makes      = regexp.MustCompile(`\bmake ([a-z-]+)`)
	settings   = regexp.MustCompile(`\b([A-Z]+)=`)
	gateGiven  = regexp.MustCompile(`GATEFLAGS=".*"`)
	gateReport = regexp.MustCompile(`--([a-z]+) ([^\s"]+)`)
)

// complaints are what is wrong with a job, by the rules of this house.
func (j *ciJob) complaints(makefile string) []string {
	var out []string
	complain := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if j.Timeout == nil && j.TimeoutText == "" {
		complain("no timeout: a job that hangs holds its machine for hours")
	}
	for scope, right := range j.Permissions {
		if right == "write" && scope != "security-events" {
			complain("may write %s", scope)
		}
	}
	for _, s := range j.Steps {
		if s.Uses != "" && !pinned.MatchString(s.Uses) {
			complain("%s: no version", s.Uses)
		}
		if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
			complain("leaves its token in the checkout, for whatever the change runs")
		}
	}
	for _, c := range j.commands() {
		// What a branch, a title or an input is called must not become a command.
		if m := expression.FindStringSubmatch(c); m != nil && !strings.HasPrefix(m[1], "matrix.") {
			complain("%s in a command", m[1])
		}
		for _, m := range makes.FindAllStringSubmatch(c, -1) {
			if !regexp.MustCompile(`(?m)^` + m[1] + `:`).MatchString(makefile) {
				complain("make %s: no such target", m[1])
			}
		}
		for _, m := range settings.FindAllStringSubmatch(c, -1) {
			if !strings.Contains(makefile, "$("+m[1]+")") {
				complain("%s: no such variable of the Makefile", m[1])
			}
		}
		for _, m := range gateReport.FindAllStringSubmatch(gateGiven.FindString(c), -1) {
			if regression.GateCommand(managers.All()).Flags().Lookup(m[1]) == nil {
				complain("gate --%s: no such flag", m[1])
			}
			if !slices.ContainsFunc(j.kept(), func(dir string) bool { return strings.HasSuffix(strings.TrimSuffix(dir, "/"), filepath.Dir(m[2])) }) {
				complain("%s is written and not kept", m[2])
			}
		}
	}
	return out
}

// ciJobs reads the jobs of a file of either server.
func ciJobs(t *testing.T, file string) map[string]*ciJob {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	jobs := map[string]*ciJob{}
	if filepath.Base(file) == ".gitlab-ci.yml" {
		var all map[string]yaml.Node
		if err := yaml.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		for name, node := range all {
			var j ciJob
			if err := node.Decode(&j); err == nil && j.Script != nil {
				jobs[name] = &j
			}
		}
		return jobs
	}
	var doc struct {
		Permissions map[string]string `yaml:"permissions"`
		Jobs        map[string]*ciJob `yaml:"jobs"`
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"contents": "read"}
	if filepath.Base(file) == "upstream.yml" {
		want["issues"] = "write" // it opens one for each new release, and runs no code of a pull request
	}
	if filepath.Base(file) == "release.yml" {
		want["contents"] = "write" // it uploads the files of a tag
	}
	if !maps.Equal(doc.Permissions, want) {
		t.Errorf("%s: permissions: %v, want %v and no other", file, doc.Permissions, want)
	}
	return doc.Jobs
}

func TestCIFiles(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string][]string{}
	for _, file := range append(files, "../../.gitlab-ci.yml") {
		jobs := ciJobs(t, file)
		if len(jobs) == 0 {
			t.Errorf("%s: no jobs", file)
		}
		for name, j := range jobs {
			for _, c := range j.complaints(string(makefile)) {
				t.Errorf("%s: %s: %s", file, name, c)
			}
			for _, m := range makes.FindAllStringSubmatch(strings.Join(j.commands(), "\n"), -1) {
				ran[filepath.Base(file)] = append(ran[filepath.Base(file)], m[1])
			}
		}
	}
	for _, file := range []string{"nightly.yml", ".gitlab-ci.yml"} {
		if !slices.Contains(ran[file], "nightly") {
			t.Errorf("%s: does not run make nightly", file)
		}
	}
	for _, file := range []string{"ci.yml", ".gitlab-ci.yml"} {
		for _, target := range []string{"demo", "lint", "test", "gate"} {
			if !slices.Contains(ran[file], target) {
				t.Errorf("%s: does not run make %s", file, target)
			}
		}
	}
}

// TestWoken: more than one run in a thousand that something outside woke fails make
// test, and so does a count of nothing.
func TestWoken(t *testing.T) {
	for _, tt := range []struct {
		runs, woken int
		want        string // "" if it is fine
	}{
		{999, 0, ""}, {999, 1, ""}, {998, 1, "more than 1 in 1,000"}, {5997, 6, ""}, {5993, 7, "more than 1 in 1,000"}, {0, 0, "no run was counted"},
	} {
		file := filepath.Join(t.TempDir(), "runs")
		text := strings.Repeat(string(scenarios.CountRun), tt.runs) + strings.Repeat(string(scenarios.CountWoken), tt.woken)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("../../.ci/woken", file).CombinedOutput()
		if (err == nil) != (tt.want == "") || !strings.Contains(string(out), tt.want) ||
			tt.want != "no run was counted" && !strings.HasPrefix(string(out), fmt.Sprintf("%d runs, %d of them woken from outside\n", tt.runs+tt.woken, tt.woken)) {
			t.Errorf("%d and %d: %v: %s", tt.runs, tt.woken, err, out)
		}
	}
}

// TestCIRulesComplain: each rule has been seen to say something.
func TestCIRulesComplain(t *testing.T) {
	const bad = `
permissions: {contents: write}
steps:
- {uses: actions/checkout@v5}
- {uses: actions/upload-artifact@main, with: {path: elsewhere}}
- {run: 'make paint COLOUR=red && echo ${{ github.head_ref }}'}
- {run: 'make gate GATEFLAGS="--junix bin/gate/junit.xml"'}`
	var j ciJob
	if err := yaml.Unmarshal([]byte(bad), &j); err != nil {
		t.Fatal(err)
	}
	said := strings.Join(j.complaints("gate:\n\tipamsim gate $(GATEFLAGS)\n"), "\n")
	for _, want := range []string{"no timeout", "may write contents", "upload-artifact@main: no version", "leaves its token", "make paint", "COLOUR", "github.head_ref in a command", "gate --junix", "junit.xml is written and not kept"} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing is said of %q in\n%s", want, said)
		}
	}
	if n := strings.Count(said, "\n") + 1; n != 9 {
		t.Errorf("%d complaints, want 9:\n%s", n, said)
	}
}

// GitLab's schema of its own language, as it lies in the npm package of
// gitlab-ci-local, a runner for one's own machine: a JavaScript file that is one
// JSON-like value. Nothing of the package is run.
const (
	gitlabPackage = "gitlab-ci-local@4.64.1"
	gitlabFile    = "package/src/schema/schema.js"
	gitlabSHA256  = "3259209575d57ba57d0fa4d01ff812cce04bb709d9a91b901ca7621cdbb84317"
	gitlabFileMax = 8 << 20
)

func TestGitLabSchema(t *testing.T) {
	text, err := gitlabSchema(t.TempDir())
	if err != nil {
		t.Skipf("SKIPPED: .gitlab-ci.yml is not held to GitLab's schema: %v", err)
	}
	if fmt.Sprintf("%x", sha256.Sum256(text)) != gitlabSHA256 {
		t.Fatalf("%s of %s is not what it was", gitlabFile, gitlabPackage)
	}
	value, _, _ := bytes.Cut(bytes.TrimPrefix(text, []byte("export const schema = ")), []byte(";\n//#"))
	plain, err := json.Marshal(plainJSON(t, value))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := testfiles.Schema(plain)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile("../../.gitlab-ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(plainJSON(t, ours)); err != nil {
		t.Error(err)
	}
	for _, wrong := range [][2]string{{"expire_in: 30 days", "expire_on: 30 days"}, {"script:", "scripts:"}, {"when: always", "when: forever"}, {"junit: bin", "junits: bin"}} {
		if text := strings.Replace(string(ours), wrong[0], wrong[1], 1); text == string(ours) {
			t.Errorf("%s is not in the file any more", wrong[0])
		} else if schema.Validate(plainJSON(t, []byte(text))) == nil {
			t.Errorf("nothing is said of %s", wrong[1])
		}
	}
}

// plainJSON reads YAML, which includes JSON with extra commas, into the values of a JSON reader.
func plainJSON(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if v, err = jsonschema.UnmarshalJSON(bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	return v
}

func gitlabSchema(dir string) ([]byte, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return nil, errors.New("no npm")
	}
	cmd := exec.Command(npm, "pack", "--silent", "--ignore-scripts", gitlabPackage)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "npm_config_cache="+filepath.Join(dir, "cache"), "npm_config_update_notifier=false",
		"npm_config_fetch_retries=0", "npm_config_fetch_timeout=20000") // offline, fail immediately
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm pack %s: %w: %s", gitlabPackage, err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("npm pack %s wrote %q", gitlabPackage, files)
	}
	f, err := os.Open(files[0])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	for tr := tar.NewReader(z); ; {
		switch h, err := tr.Next(); {
		case err != nil:
			return nil, fmt.Errorf("%s in %s: %w", gitlabFile, gitlabPackage, err)
		case h.Name == gitlabFile:
			return io.ReadAll(io.LimitReader(tr, gitlabFileMax))
		}
	}
}
