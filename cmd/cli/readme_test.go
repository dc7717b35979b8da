package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/managers"
	"ipamsim/model/invariant"
	"ipamsim/reports/golden"
	"ipamsim/sim/cluster/action"
)

// readmes are the README.md of the module and of its folders, by path from its top,
// which is where the test stands from here on.
func readmes(t *testing.T) map[string]string {
	t.Helper()
	t.Chdir("../..")
	out := map[string]string{}
	for _, pattern := range []string{"README.md", "*/README.md", "*/*/README.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out[file] = string(b)
		}
	}
	return out
}

var (
	quotedPath = regexp.MustCompile("`((?:cmd|fuzz|model|reports|scenarios|sim)/[A-Za-z0-9_./-]+)`")
	linkedPath = regexp.MustCompile(`\]\(([A-Za-z.][A-Za-z0-9_./-]*)(?:#[a-z0-9-]*)?\)`)
	tableRow   = regexp.MustCompile(`(?m)^\| .* \|$`)

	linkedSection = regexp.MustCompile(`\]\(([A-Za-z.][A-Za-z0-9_./-]*\.md)#([a-z0-9-]+)\)`)
	heading       = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notAnchor     = regexp.MustCompile(`[^a-z0-9 -]`) // what GitHub leaves out of a heading's anchor
)

// missingFiles returns the paths that a text in a folder names and that do not exist: quoted ones
// from the module's root, links from the folder. NAME is a placeholder.
func missingFiles(folder, text string) (named, missing []string) {
	see := func(name, file string) {
		if strings.Contains(name, "NAME") {
			return
		}
		named = append(named, name)
		if _, err := os.Stat(file); err != nil {
			missing = append(missing, name)
		}
	}
	for _, m := range quotedPath.FindAllStringSubmatch(text, -1) {
		see(m[1], m[1])
	}
	for _, m := range linkedPath.FindAllStringSubmatch(text, -1) {
		see(m[1], filepath.Join(folder, m[1]))
	}
	return named, missing
}

// missingSections are the links of a text in a folder to a heading that its document does
// not have.
func missingSections(folder, text string) (missing []string) {
	for _, m := range linkedSection.FindAllStringSubmatch(text, -1) {
		b, err := os.ReadFile(filepath.Join(folder, m[1]))
		found := err == nil && slices.ContainsFunc(heading.FindAllStringSubmatch(string(b), -1), func(h []string) bool {
			return strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-") == m[2]
		})
		if !found {
			missing = append(missing, m[1]+"#"+m[2])
		}
	}
	return missing
}

// Every file, folder and section that a README names is there, and every row of what is
// real and what is simulated names the file that does it.
func TestReadmeNamesFiles(t *testing.T) {
	all := readmes(t)
	for file, text := range all {
		if _, missing := missingFiles(filepath.Dir(file), text); len(missing) > 0 {
			t.Errorf("%s names what is not there: %q", file, missing)
		}
		if missing := missingSections(filepath.Dir(file), text); len(missing) > 0 {
			t.Errorf("%s links to sections that are not there: %q", file, missing)
		}
	}
	_, section, _ := strings.Cut(all["sim/README.md"], "\n## What is real, what is simulated, what is absent\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := 0
	for _, row := range tableRow.FindAllString(section, -1) {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		last := cells[len(cells)-1]
		if last == "where" {
			continue
		}
		rows++
		if named, _ := missingFiles("sim", last); len(named) == 0 && !strings.Contains(last, "`cmd/") {
			t.Errorf("no file in the last column: %s", row)
		}
	}
	if rows < 30 {
		t.Errorf("%d rows: the tables have another form than this test reads", rows)
	}
	if _, missing := missingFiles("sim", "`sim/nowhere.go` [a](nowhere.md)"); len(missing) != 2 {
		t.Errorf("missing files are not seen: %q", missing)
	}
	if missing := missingSections("sim", "[a](README.md#nowhere) [b](README.md#the-folders)"); len(missing) != 1 {
		t.Errorf("missing sections are not seen: %q", missing)
	}
}

var (
	shown   = regexp.MustCompile(`(?m)^\s*(?:\$ )?(?:bin/)?ipamsim ([a-z]+)([^#|>\n]*)`)
	flagged = regexp.MustCompile(`--([a-z-]+)`)
	yamls   = regexp.MustCompile(`scenarios/[A-Za-z0-9_.*/-]+\.yaml`)
	mayMake = regexp.MustCompile("(?m)(?:^|[`$] ?)make ([a-z-]+)")
	target  = regexp.MustCompile(`(?m)^([a-z-]+):.*## `)
)

// Every command that a README shows is one, with those flags, about scenarios that are
// there; and what it says one may make is in the Makefile.
func TestReadmeCommands(t *testing.T) {
	text := strings.Join(slices.Collect(maps.Values(readmes(t))), "\n")
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	help, seen := map[string]string{}, 0
	for _, m := range shown.FindAllStringSubmatch(text, -1) {
		sub, args := m[1], m[2]
		if help[sub] == "" {
			var out, errs bytes.Buffer
			if code := Run([]string{sub, "--help"}, &out, &errs, managers.All()...); code != exit.Expected || !strings.Contains(out.String(), "ipamsim "+sub) {
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
	for _, m := range target.FindAllStringSubmatch(string(makefile), -1) {
		targets[m[1]] = true
	}
	for _, m := range mayMake.FindAllStringSubmatch(text, -1) {
		if !targets[m[1]] {
			t.Errorf("make %s: no such target", m[1])
		}
	}
}

// The front page is short and shows ten rows of the track record, which the test of
// reports/trackrecord holds to the data.
func TestFrontPage(t *testing.T) {
	all := readmes(t)
	if n := strings.Count(all["README.md"], "\n"); n > 150 {
		t.Errorf("README.md has %d lines; 150 are the most", n)
	}
	_, section, _ := strings.Cut(all["README.md"], "\n## Track record\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if rows := len(tableRow.FindAllString(section, -1)) - 1; rows != 10 {
		t.Errorf("%d rows of the track record; want 10", rows)
	}
}

// The table of invariants is generated from their values: make golden.
func TestInvariantTable(t *testing.T) {
	var rows strings.Builder
	for _, inv := range invariant.All() {
		holds := "always"
		if inv.Phase == invariant.Quiescent {
			holds = "when quiet"
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", inv.Name, inv.Severity, holds, inv.Doc)
	}
	generated(t, "model/invariant/README.md", "| invariant | severity | holds | what must be true |\n|---|---|---|---|\n", rows.String())
}

// The table of actions is generated from their values: make golden.
func TestActionTable(t *testing.T) {
	var rows strings.Builder
	for _, k := range action.All() {
		var hazards []string
		for _, h := range k.Hazards {
			hazards = append(hazards, "`"+h.Name+"`")
		}
		if !strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%s: Doc %q does not end with a period", k.Name, k.Doc)
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", k.Name, cmp.Or(string(k.Class), "ordinary"), strings.Join(hazards, ", "), k.Doc)
	}
	generated(t, "scenarios/README.md", "| action | class | hazards | what happens |\n|---|---|---|---|\n", rows.String())
}

// So is the table of hazards.
func TestHazardTable(t *testing.T) {
	var rows strings.Builder
	for _, h := range action.Hazards() {
		usual := "yes"
		if h.Named {
			usual = "no"
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", h.Name, usual, h.Doc)
	}
	generated(t, "scenarios/README.md", "| hazard | usual | what happens |\n|---|---|---|\n", rows.String())
}

// generated checks that the table below a head consists of these rows.
func generated(t *testing.T, file, head, rows string) {
	t.Helper()
	before, after, ok := strings.Cut(readmes(t)[file], head)
	if !ok {
		t.Fatalf("%s lacks the table %q", file, head)
	}
	for strings.HasPrefix(after, "|") {
		_, after, _ = strings.Cut(after, "\n")
	}
	golden.Check(t, file, before+head+rows+after)
}
