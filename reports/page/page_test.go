package page_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/reports"
	"ipamsim/reports/page"
	"ipamsim/reports/page/browser"
)

var (
	desk  = browser.Window{Width: 1280, Height: 900}
	phone = browser.Window{Width: 400, Height: 800}
)

// draw writes the page of a run to a file of its own.
func draw(t testing.TB, rec *reports.Record) string {
	t.Helper()
	var b bytes.Buffer
	if err := page.Write(&b, rec); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// show draws a page and opens it. When the test ends, the page must have done
// nothing that no page may do.
func show(t testing.TB, b *browser.Browser, rec *reports.Record, fragment string, w browser.Window) *browser.Tab {
	t.Helper()
	tab := b.Open(t, draw(t, rec), fragment, w)
	if !w.NoScript {
		tab.Wait("document.documentElement.dataset.ready == 'yes'")
	}
	t.Cleanup(func() {
		if c := tab.Complaints(); len(c) > 0 {
			t.Errorf("the page did what no page may: %q", c)
		}
	})
	return tab
}

// A pod whose name is a program stays a name, in every place of the page: nothing
// runs, nothing is asked of anybody, no element is made of it.
func TestHostileNamesStayText(t *testing.T) {
	tab := show(t, browser.Start(t), small("default/"+hostile), "", desk)
	for step := 0; step <= 8; step++ {
		tab.Press("n")
	}
	if got := browser.Eval[int](tab, "document.querySelectorAll('img, script[src]').length + document.scripts.length"); got != 2 {
		t.Errorf("%d scripts and pictures; want two, the record and the program", got)
	}
	if text := browser.Eval[string](tab, "document.body.innerText"); !strings.Contains(text, hostile) {
		t.Error("the name is not on the page as it is")
	}
}
