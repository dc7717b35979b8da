package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/reports/page/browser"
)

// The browser sees what a page does: what it must not do is a complaint, a control
// without a name is nameless. A page that does nothing of the kind has neither.
func TestSeesWhatAPageDoes(t *testing.T) {
	b := browser.Start(t)
	open := func(html string) *browser.Tab {
		file := filepath.Join(t.TempDir(), "page.html")
		if err := os.WriteFile(file, []byte("<!doctype html><title>x</title>"+html), 0o600); err != nil {
			t.Fatal(err)
		}
		return b.Open(t, file, "#a=b", browser.Window{Width: 400, Height: 300})
	}
	for complaint, html := range map[string]string{
		"request: http://127.0.0.1:9/pixel": `<img src="http://127.0.0.1:9/pixel">`,
		"exception: ":                       `<script>throw new Error("boom")</script>`,
		"console: ":                         `<script>console.warn("hm")</script>`,
		"log: ":                             `<meta http-equiv=Content-Security-Policy content="default-src 'none'"><script>1</script>`,
	} {
		tab := open(html)
		tab.Wait("document.readyState == 'complete'")
		if got := strings.Join(tab.Complaints(), "\n"); !strings.Contains(got, complaint) {
			t.Errorf("%s: complaints %q, want %q", html, got, complaint)
		}
	}
	tab := open(`<button></button><button aria-label="go">x</button><p>hello`)
	if nameless, all := tab.Nameless(); len(nameless) != 1 || all != 2 {
		t.Errorf("%d controls, nameless: %q; want one of two", all, nameless)
	}
	if got := tab.Complaints(); len(got) > 0 {
		t.Errorf("a quiet page: %q", got)
	}
	tab.Click("button[aria-label=go]")
	if got := browser.Eval[string](tab, "document.activeElement.ariaLabel"); got != "go" {
		t.Errorf("the focus is on %q", got)
	}
}
