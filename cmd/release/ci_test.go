package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// published lays the files of a release out as its download page has them, and returns the
// page's address and the version.
func published(t *testing.T) (url, version string) {
	t.Helper()
	if *dist == "" {
		t.Skip("without -dist there is no release to test")
	}
	images, err := filepath.Glob(filepath.Join(*dist, "ipamsim_v*_image.tar"))
	if err != nil || len(images) != 1 {
		t.Fatalf("images: %q, %v", images, err)
	}
	version = strings.Split(filepath.Base(images[0]), "_")[1]
	page := t.TempDir()
	if err := os.Symlink(*dist, filepath.Join(page, version)); err != nil {
		t.Fatal(err)
	}
	return "file://" + page, version
}

// gateFiles are what a job leaves in its folder of results.
func gateFiles(t *testing.T, dir string) {
	t.Helper()
	for name, part := range map[string]string{"junit.xml": "<testsuite", "gate.sarif": `"2.1.0"`, "gate.md": "green: 1 scenario is as in the baseline"} {
		if text := read(t, filepath.Join(dir, name)); !strings.Contains(text, part) {
			t.Errorf("%s has no %s:\n%.400s", name, part, text)
		}
	}
}

// TestAction runs the shell steps of the GitHub action with a release.
func TestAction(t *testing.T) {
	url, version := published(t)
	var action struct {
		Runs struct {
			Steps []struct {
				ID, Run string
				Env     map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, "../../.github/actions/gate/action.yml")), &action); err != nil {
		t.Fatal(err)
	}
	work, temp := t.TempDir(), t.TempDir()
	output := filepath.Join(temp, "output")
	values := map[string]string{"inputs.version": version, "inputs.url": url, "inputs.scenarios": "r1-whereabouts-162", "steps.install.outputs.dir": filepath.Join(temp, "ipamsim")}
	ran := 0
	for _, s := range action.Runs.Steps {
		if s.Run == "" {
			continue
		}
		cmd := exec.Command("bash", "-c", s.Run)
		cmd.Dir, cmd.Env = work, append(os.Environ(), "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+output)
		for name, value := range s.Env {
			cmd.Env = append(cmd.Env, name+"="+expression.ReplaceAllStringFunc(value, func(e string) string { return values[expression.FindStringSubmatch(e)[1]] }))
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", s.ID, err, out)
		}
		ran++
	}
	if ran != 2 {
		t.Errorf("%d steps with a script, want 2", ran)
	}
	gateFiles(t, filepath.Join(temp, "ipamsim-gate"))
}

var expression = regexp.MustCompile(`\$(?:\{\{|\[\[) *([a-z.]+) *(?:\}\}|\]\])`)

// TestGitLab runs the script of the GitLab job with a release, and again with a file that
// was changed on the way.
func TestGitLab(t *testing.T) {
	url, version := published(t)
	header, text, _ := strings.Cut(read(t, "../../.gitlab/gate.yml"), "\n---\n")
	var spec struct {
		Spec struct {
			Inputs map[string]struct{ Default string }
		}
	}
	if err := yaml.Unmarshal([]byte(header), &spec); err != nil {
		t.Fatal(err)
	}
	text = expression.ReplaceAllStringFunc(text, func(e string) string {
		name := strings.TrimPrefix(expression.FindStringSubmatch(e)[1], "inputs.")
		given := map[string]string{"version": version, "url": url, "scenarios": "r1-whereabouts-162"}
		if value, is := given[name]; is {
			return value
		}
		input, is := spec.Spec.Inputs[name]
		if !is {
			t.Errorf("no input %s", name)
		}
		return fmt.Sprintf("%q", input.Default)
	})
	var jobs map[string]struct {
		Variables map[string]string
		Script    []string
	}
	if err := yaml.Unmarshal([]byte(text), &jobs); err != nil {
		t.Fatal(err)
	}
	job := jobs["ipamsim-gate"]
	run := func(url string) (string, error) {
		work := t.TempDir()
		cmd := exec.Command("bash", "-c", strings.Join(job.Script, "\n"))
		cmd.Dir, cmd.Env = work, append(os.Environ(), "CI_PROJECT_DIR="+work)
		for name, value := range job.Variables {
			if name == "URL" {
				value = url
			}
			cmd.Env = append(cmd.Env, name+"="+strings.ReplaceAll(value, "$CI_PROJECT_DIR", work))
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
		return work, err
	}
	work, err := run(url)
	if err != nil {
		t.Fatal(err)
	}
	gateFiles(t, filepath.Join(work, "ipamsim-gate"))

	page := filepath.Join(t.TempDir(), version)
	if err := os.Mkdir(page, 0o777); err != nil {
		t.Fatal(err)
	}
	archives, _ := filepath.Glob(filepath.Join(*dist, "ipamsim_v*_*_*.tar.gz")) // the pattern is valid
	write(t, filepath.Join(page, "SHA256SUMS"), read(t, filepath.Join(*dist, "SHA256SUMS")))
	for _, a := range archives {
		write(t, filepath.Join(page, filepath.Base(a)), "changed on the way")
	}
	if _, err := run("file://" + filepath.Dir(page)); err == nil || !strings.Contains(err.Error(), "FAILED") {
		t.Errorf("a changed archive: %v", err)
	}
}
