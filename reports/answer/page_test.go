package answer_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/reports/answer"
	"ipamsim/reports/answer/render"
	"ipamsim/reports/page/browser"
)

var screenshots = flag.String("screenshots", "", "write pictures of the pages into this `DIR`")

const evil = `</title><script>alert(1)</script><img src=x onerror=alert(2)>|"'&#x202e;` + "\u202e\x1b[31m`$(id)` [a](javascript:alert(3))"

// hostile is a plan whose every text wants to be markup, a terminal's command, or a
// spreadsheet's formula.
func hostile() *answer.Question {
	p := owned()
	p.Name, p.Title, p.Story, p.File, p.Upstream, p.Unknown = evil, evil, evil+"\n\n=1+1", evil, evil, []string{evil}
	p.Settings = []string{evil + ": " + evil}
	p.Axes = []answer.Axis{{Setting: "=" + evil, Values: []string{evil, "=2"}, Given: true}, {Setting: strings.Repeat("long ", 100), Values: []string{"x"}}}
	for i := range p.Cells {
		p.Cells[i].Option, p.Cells[i].Cost, p.Cells[i].Engine = "=cmd|"+evil, evil, evil
		p.Cells[i].Values, p.Cells[i].Refused = []string{p.Axes[0].Values[i]}, []string{evil}
	}
	return p
}

// Whatever a plan says stays text, in every file.
func TestHostileTextStaysText(t *testing.T) {
	for _, f := range render.Of(hostile()).Files() {
		if strings.HasSuffix(f.Name, ".png") {
			continue
		}
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for _, bad := range []string{"\u202e", "\x1b"} {
			if i := strings.Index(text, bad); i >= 0 && !strings.HasPrefix(f.Name, "plots/") {
				t.Errorf("%s: %q in …%q…", f.Name, bad, text[max(0, i-20):i+10])
			}
		}
		var wrong []string
		switch filepath.Ext(f.Name) {
		case ".html", ".svg":
			wrong = []string{"<script>alert", "<img", "onerror=alert(2)>"}
		case ".md":
			wrong = []string{"<script", "<img", "](", "`"}
		case ".csv":
			wrong = []string{"\n=", ",=", "\n\"=", ",\"="}
		}
		for _, bad := range wrong {
			if i := strings.Index(text, bad); i >= 0 {
				t.Errorf("%s: %q in …%q…", f.Name, bad, text[max(0, i-60):min(len(text), i+60)])
			}
		}
	}
	var b bytes.Buffer
	if err := render.Of(hostile()).Text(&b); err != nil || strings.ContainsAny(b.String(), "\x1b\u202e") {
		t.Errorf("the terminal is told to do something: %q, %v", b.String(), err)
	}
}

// The page, as a reader sees it: nothing runs, nothing is loaded, nothing is cut off
// on a phone, and in the dark as well.
func TestInBrowser(t *testing.T) {
	b := browser.Start(t)
	sorts(t, b)
	for name, p := range map[string]*answer.Question{"staging": plan(staging, 100), "grid": grid(20), "hostile": hostile()} {
		file := filepath.Join(t.TempDir(), "index.html")
		write(t, file, render.Of(p).Page)
		windows := []browser.Window{{Width: 400, Height: 800, Dark: name == "grid", NoScript: name == "grid"}}
		if name != "grid" {
			windows = append(windows, browser.Window{Width: 1280, Height: 900, Dark: name == "hostile"})
		}
		for _, w := range windows {
			tab := b.Open(t, file, "", w)
			tab.Wait("document.readyState == 'complete'")
			if got := browser.Eval[int](tab, "document.documentElement.scrollWidth"); got > w.Width {
				t.Errorf("%s at %d: it is %d wide", name, w.Width, got)
			}
			if got := tab.Complaints(); len(got) > 0 {
				t.Errorf("%s: the page complains: %q", name, got)
			}
			if roles := tab.Roles(); roles["table"] == 0 || roles["image"]+roles["img"] < 2 {
				t.Errorf("%s: a screen reader sees %v", name, roles)
			}
			if *screenshots != "" {
				tab.Screenshot(filepath.Join(*screenshots, name+map[bool]string{true: "-dark", false: "-light"}[w.Dark]+map[int]string{400: "-400", 1280: "-1280"}[w.Width]+".png"), true)
			}
		}
	}
}

// A column is sorted by a click: by numbers, not by letters.
func sorts(t *testing.T, b *browser.Browser) {
	file := filepath.Join(t.TempDir(), "index.html")
	write(t, file, render.Of(plan(staging, 100)).Page)
	tab := b.Open(t, file, "", browser.Window{Width: 1280, Height: 900})
	tab.Wait("document.querySelectorAll('thead button').length > 5")
	if got := browser.Eval[string](tab, "document.querySelector('tbody tr:first-child:has(th .good) .v').textContent"); got != "64 pods a node" {
		t.Errorf("first and marked is %q, want what is recommended", got)
	}
	browser.Eval[bool](tab, "[...document.querySelectorAll('thead button')].find(b => b.textContent == 'routes').click() || true")
	const want = "64 pods a node, one block a node, strict affinity, as it is, blocks of 32, blocks of 16"
	if got := browser.Eval[string](tab, "[...document.querySelectorAll('tbody th .v')].map(e => e.textContent).join(', ')"); got != want {
		t.Errorf("by routes: %s, want %s", got, want)
	}
}

func write(t *testing.T, file string, f func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
