// Package pagetest opens the page of a run in headless Chromium, for tests.
package pagetest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"ipamsim/reports/page"
	"ipamsim/reports/page/browser"
	"ipamsim/reports/record"
)

// Desktop is the window of a desktop browser.
var Desktop = browser.Window{Width: 1280, Height: 900}

// Draw writes the page of a run to a file of its own and returns its name.
func Draw(t testing.TB, rec *record.Record) string {
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

// Show draws a page and opens it. When the test ends, the page must have done
// nothing that no page may do.
func Show(t testing.TB, b *browser.Browser, rec *record.Record, fragment string, w browser.Window) *browser.Tab {
	t.Helper()
	tab := b.Open(t, Draw(t, rec), fragment, w)
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
