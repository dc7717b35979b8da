package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ipamsim/model/invariant"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico"
	"ipamsim/sim/ipam/whereabouts"
)

// readme is README.md, and makefile what it says one may make.
func readme(t *testing.T) (text, makefile string) {
	t.Helper()
	t.Chdir("../..")
	for file, to := range map[string]*string{"README.md": &text, "Makefile": &makefile} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		*to = string(b)
	}
	return text, makefile
}

var (
	quotedPath = regexp.MustCompile("`((?:cmd|fuzz|model|reports|scenarios|sim)/[A-Za-z0-9_./-]+)`")
	linkedPath = regexp.MustCompile(`\]\(([A-Za-z.][A-Za-z0-9_./-]*)\)`)
	tableRow   = regexp.MustCompile(`(?m)^\| .* \|$`)
)

// missingFiles are the paths that a text names and that are not there. NAME is whatever
// somebody will write.
func missingFiles(text string) (named, missing []string) {
	for _, pattern := range []*regexp.Regexp{quotedPath, linkedPath} {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "NAME") {
				continue
			}
			named = append(named, m[1])
			if _, err := os.Stat(m[1]); err != nil {
				missing = append(missing, m[1])
			}
		}
	}
	return named, missing
}

// Every file and folder that README names is there, and every row of what is real and
// what is simulated names the file that does it.
func TestReadmeNamesFiles(t *testing.T) {
	text, _ := readme(t)
	if _, missing := missingFiles(text); len(missing) > 0 {
		t.Errorf("README.md names what is not there: %q", missing)
	}
	_, section, _ := strings.Cut(text, "\n## What is real, what is simulated, what is absent\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := 0
	for _, row := range tableRow.FindAllString(section, -1) {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		last := cells[len(cells)-1]
		if last == "where" {
			continue
		}
		rows++
		if named, _ := missingFiles(last); len(named) == 0 && !strings.Contains(last, "`cmd/") {
			t.Errorf("no file in the last column: %s", row)
		}
	}
	if rows < 30 {
		t.Errorf("%d rows: the tables have another form than this test reads", rows)
	}
	if _, missing := missingFiles("`sim/nowhere.go` [a](nowhere.md)"); len(missing) != 2 {
		t.Errorf("missing files are not seen: %q", missing)
	}
}

var (
	shown   = regexp.MustCompile(`(?m)^\s*(?:\$ )?(?:bin/)?ipamsim ([a-z]+)([^#|>\n]*)`)
	flagged = regexp.MustCompile(`--([a-z-]+)`)
	yamls   = regexp.MustCompile(`scenarios/[A-Za-z0-9_.*/-]+\.yaml`)
	mayMake = regexp.MustCompile("(?m)(?:^|[`$] ?)make ([a-z-]+)")
	target  = regexp.MustCompile(`(?m)^([a-z-]+):.*## `)
)

// Every command that README shows is one, with those flags, about scenarios that are
// there; and what it says one may make is in the Makefile.
func TestReadmeCommands(t *testing.T) {
	text, makefile := readme(t)
	help, seen := map[string]string{}, 0
	for _, m := range shown.FindAllStringSubmatch(text, -1) {
		sub, args := m[1], m[2]
		if help[sub] == "" {
			var out, errs bytes.Buffer
			if code := command([]string{sub, "--help"}, &out, &errs); code != exitExpected || !strings.Contains(out.String(), "ipamsim "+sub) {
				t.Errorf("ipamsim %s: no such command: %s", sub, errs.String())
			}
			help[sub] = out.String()
		}
		for _, f := range flagged.FindAllStringSubmatch(args, -1) {
			if seen++; !strings.Contains(help[sub], "--"+f[1]) {
				t.Errorf("ipamsim %s: no flag --%s", sub, f[1])
			}
		}
		for _, f := range yamls.FindAllString(args, -1) {
			if there, err := filepath.Glob(f); err != nil || len(there) == 0 {
				t.Errorf("ipamsim %s: no file %s", sub, f)
			}
		}
	}
	if len(help) < 8 || seen < 10 {
		t.Errorf("%d commands, %d flags: README shows them in another form than this test reads", len(help), seen)
	}
	targets := map[string]bool{}
	for _, m := range target.FindAllStringSubmatch(makefile, -1) {
		targets[m[1]] = true
	}
	for _, m := range mayMake.FindAllStringSubmatch(text, -1) {
		if !targets[m[1]] {
			t.Errorf("make %s: no such target", m[1])
		}
	}
}

// The versions and numbers that README states are those of this build.
func TestReadmeNumbers(t *testing.T) {
	text, _ := readme(t)
	if n := len(invariant.All()); n != 27 || !strings.Contains(text, "twenty-seven **invariants**") {
		t.Errorf("there are %d invariants; README says otherwise, or this test does", n)
	}
	for name, upstream := range map[string]string{
		"Whereabouts": whereabouts.New().Upstream, "Calico": calico.New().Upstream,
		"Kubernetes": ipam.Upstream("k8s.io/kubernetes", nil), "etcd": ipam.Upstream("go.etcd.io/etcd/server/v3", nil),
	} {
		if _, version, ok := strings.Cut(upstream, "@v"); !ok || !strings.Contains(text, "| "+name+" "+version+":") {
			t.Errorf("README does not say that %s is %q", name, upstream)
		}
	}
}
