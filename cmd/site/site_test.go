package main

import (
	"io/fs"
	"net/url"
	"os"
	slash "path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ipamsim/reports/page/browser"
)

const repository = "../.."

func buildSite(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "site")
	if _, err := build(os.DirFS(repository), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestContents: every document of the repository is a page.
func TestContents(t *testing.T) {
	s := &site{repository: os.DirFS(repository), files: map[string]bool{}}
	if err := s.load(); err != nil {
		t.Fatal(err)
	}
	_ = fs.WalkDir(s.repository, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			t.Error(err)
		case d.IsDir() && name != "." && (slices.Contains([]string{"bin", "dist", "testdata", "upstream"}, d.Name()) || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case slash.Ext(name) == ".md" && !slices.ContainsFunc(s.pages, func(p *page) bool { return p.source == name }):
			t.Errorf("%s is not in contents.go", name)
		}
		return nil
	})
}

var (
	href = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	id   = regexp.MustCompile(` id="([^"]*)"`)
)

// TestLinks follows each link of each page, also to a heading.
func TestLinks(t *testing.T) {
	out, ids, links := buildSite(t), map[string][]string{}, 0
	read := func(file string) string {
		text, err := os.ReadFile(filepath.Join(out, file))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	idsOf := func(file string) []string {
		if _, known := ids[file]; !known {
			for _, m := range id.FindAllStringSubmatch(read(file), -1) {
				ids[file] = append(ids[file], m[1])
			}
		}
		return ids[file]
	}
	var pages []string
	err := fs.WalkDir(os.DirFS(out), ".", func(name string, d fs.DirEntry, err error) error {
		if slash.Ext(name) == ".html" {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		for _, m := range href.FindAllStringSubmatch(read(p), -1) {
			u, err := url.Parse(m[1])
			if err != nil || u.IsAbs() {
				continue
			}
			links++
			to := slash.Join(slash.Dir(p), u.Path)
			if u.Path == "" {
				to = p
			}
			if _, err := os.Stat(filepath.Join(out, to)); err != nil {
				t.Errorf("%s: link to %s: no such file", p, m[1])
			} else if u.Fragment != "" && !slices.Contains(idsOf(to), u.Fragment) {
				t.Errorf("%s: link to %s: no such heading", p, m[1])
			}
		}
	}
	if len(pages) < 40 || links < 1000 {
		t.Errorf("%d pages with %d links: the site has another form than this test reads", len(pages), links)
	}
}

// TestLinkWithoutTarget: the site of documents with a broken link is not written.
func TestLinkWithoutTarget(t *testing.T) {
	s := &site{repository: os.DirFS(repository), files: map[string]bool{}}
	for link, problem := range map[string]string{"nowhere.yaml": "no such file", "../nowhere": "no such file", "testdata/site.md": "not in contents.go"} {
		if _, err := s.target("cmd/site/README.md", nil, link); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v", link, err)
		}
	}
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "thesis.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := build(os.DirFS(repository), out); err == nil {
		t.Error("the site replaced a folder with other files")
	}
}

// TestBrowser uses the site as a reader does: search, filters, a phone.
func TestBrowser(t *testing.T) {
	chromium, out := browser.Start(t), buildSite(t)
	wide := browser.Window{Width: 1280, Height: 900}
	tab := chromium.Open(t, filepath.Join(out, "scenarios/index.html"), "", wide)
	tab.Press("/")
	tab.Wait(`document.activeElement.id === "search"`)
	browser.Eval[string](tab, `document.activeElement.value = ""`) // DevTools sends the character in spite of preventDefault
	tab.Type("#search", "unsynced")
	tab.Sees("#results", "Fields of a scenario")
	if to := browser.Eval[string](tab, `document.querySelector("#results a").href`); !strings.HasSuffix(to, "/scenarios/reference.html") {
		t.Errorf("the first result is %s", to)
	}

	tab = chromium.Open(t, filepath.Join(out, recordPath), "", wide)
	all := browser.Eval[int](tab, `document.querySelectorAll(".record tbody tr").length`)
	visible := `[...document.querySelectorAll(".record tbody tr")].filter(r => !r.hidden).length`
	browser.Eval[bool](tab, `(() => { const s = document.querySelector("[name=component]"); s.value = "calico"; s.dispatchEvent(new Event("input", {bubbles: true})); return true })()`)
	if n := browser.Eval[int](tab, visible); n == 0 || n >= all {
		t.Errorf("%d of %d rows are of calico", n, all)
	}
	tab.Type(".filters [name=text]", "tunnel")
	if n := browser.Eval[int](tab, visible+` - [...document.querySelectorAll(".record tbody tr:not([hidden])")].filter(r => /tunnel/i.test(r.textContent) && r.dataset.component === "calico").length`); n != 0 {
		t.Errorf("%d visible rows do not match", n)
	}
	if nameless, n := tab.Nameless(); len(nameless) > 0 || n < 5 {
		t.Errorf("controls without a name, of %d: %q", n, nameless)
	}

	for _, page := range []string{"index.html", "record.html", "cmd/cli/commands.html", "scenarios/reference.html", "reports/index.html", "scenarios/tutorials/author.html"} {
		tab := chromium.Open(t, filepath.Join(out, page), "", browser.Window{Width: 360, Height: 700})
		if w := browser.Eval[int](tab, `document.documentElement.scrollWidth`); w > 360 {
			t.Errorf("%s is %d pixels wide on a phone", page, w)
		}
		if browser.Eval[bool](tab, `document.querySelector("nav details").open`) {
			t.Errorf("%s: the menu covers the text on a phone", page)
		}
	}
}
