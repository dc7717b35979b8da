package index_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/index"
	"ipamsim/reports/page/browser"
)

var shots = flag.String("screenshots", "", "write pictures of the pages into this `DIR`")

// TestInBrowser looks at the pages as a reader does, all in one browser.
func TestInBrowser(t *testing.T) {
	b := browser.Start(t)
	for name, test := range map[string]func(*testing.T, *browser.Browser){"use": use, "windows": checkWindows, "reload": reload, "many rows": manyRows} {
		t.Run(name, func(t *testing.T) { test(t, b) })
	}
}

// open shows a page of the tests in a browser.
func open(t *testing.T, b *browser.Browser, name, fragment string, w browser.Window) *browser.Tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "index.html")
	if err := os.WriteFile(file, []byte(pages(t)[name]), 0o600); err != nil {
		t.Fatal(err)
	}
	tab := b.Open(t, file, fragment, w)
	tab.Wait("document.readyState == 'complete'")
	return tab
}

func shoot(tab *browser.Tab, name string) {
	if *shots != "" {
		tab.Screenshot(filepath.Join(*shots, name+".png"), true)
	}
}

// visible are the row names of a table that are shown, in order.
func visible(tab *browser.Tab, table string) string {
	return browser.Eval[string](tab, `[...document.querySelectorAll('[data-name=`+table+`] tbody tr:not([hidden]) th .v')].map(e => e.textContent.slice(0, 4)).join(' ')`)
}

// Search, filter, sort, copy and reset, by mouse and by keys, and none of it makes
// the page do what no page may.
func use(t *testing.T, b *browser.Browser) {
	tab := open(t, b, "campaign", "", browser.Window{Width: 1280, Height: 800})
	const all = "c59c 0de7 d6e3 4127"
	if got := visible(tab, "findings"); got != all {
		t.Fatalf("rows %s, want %s", got, all)
	}
	shoot(tab, "campaign-1280-light")

	tab.Type(".tools input", "PATCH lost")
	if got := visible(tab, "findings"); got != "0de7" {
		t.Errorf("searched: rows %s", got)
	}
	if got := browser.Eval[string](tab, "document.querySelector('.tools output').textContent"); got != "1 of 4 shown" {
		t.Errorf("it says %q", got)
	}
	tab.Click(".tools button")
	if got := visible(tab, "findings"); got != all {
		t.Errorf("shown all: rows %s", got)
	}

	// A filter by keys: its select, first letter of the value.
	browser.Eval[bool](tab, "[...document.querySelectorAll('.tools select')].find(s => s.parentElement.textContent.startsWith('Severity')).focus() || true")
	tab.Press("m")
	if got := visible(tab, "findings"); got != "0de7" {
		t.Errorf("only major ones: rows %s", got)
	}
	if got := browser.Eval[string](tab, "decodeURIComponent(location.hash)"); !strings.Contains(got, "findings.Severity=major") {
		t.Errorf("the filter is not in the address: %s", got)
	}
	tab.Click(".tools button")

	sort := "thead th:nth-child(8) button" // first after
	tab.Click(sort)
	tab.Click(sort)
	if got := visible(tab, "findings"); got != "4127 d6e3 0de7 c59c" {
		t.Errorf("the latest first: rows %s", got)
	}
	if got := browser.Eval[string](tab, "document.querySelector('thead th:nth-child(8)').ariaSort"); got != "descending" {
		t.Errorf("aria-sort is %s", got)
	}

	tab.Click("code + button")
	tab.Wait("['copied', 'selected'].includes(document.querySelector('code + button').textContent)")
	if nameless, n := tab.Nameless(); len(nameless) > 0 || n < 10 {
		t.Errorf("%d controls, without a name: %v", n, nameless)
	}
	if got := tab.Complaints(); len(got) > 0 {
		t.Errorf("the page complains: %q", got)
	}

	// The link to the charts leads there, and leaves the filters where they are.
	tab.Click("#jump")
	if top := browser.Eval[float64](tab, "document.getElementById('over-time').getBoundingClientRect().top"); top > 800 {
		t.Errorf("the charts are %.0f pixels below", top)
	}

	// The address is all that is needed to see the same again.
	again := open(t, b, "campaign", browser.Eval[string](tab, "location.hash"), browser.Window{Width: 1280, Height: 800})
	if got := visible(again, "findings"); got != "4127 d6e3 0de7 c59c" {
		t.Errorf("by its address: rows %s", got)
	}
}

// At 400 pixels nothing is cut off, in the dark everything can be read, without a
// script as well; tables stay tables for a screen reader.
func checkWindows(t *testing.T, b *browser.Browser) {
	for _, name := range []string{"campaign", "library"} {
		for _, w := range []browser.Window{
			{Width: 400, Height: 800}, {Width: 1280, Height: 800}, {Width: 1280, Height: 800, Dark: true}, {Width: 400, Height: 800, Dark: true, NoScript: true},
		} {
			tab := open(t, b, name, "", w)
			if got := browser.Eval[int](tab, "document.documentElement.scrollWidth"); got > w.Width {
				t.Errorf("%s at %d: it is %d wide", name, w.Width, got)
			}
			roles := tab.Roles()
			if roles["table"] == 0 || roles["row"] < 5 || roles["columnheader"] == 0 || roles["rowheader"] < 4 {
				t.Errorf("%s at %d: a screen reader sees %v", name, w.Width, roles)
			}
			if name != "library" && roles["image"]+roles["img"] < 5 {
				t.Errorf("%s at %d: charts are not told of: %v", name, w.Width, roles)
			}
			if bad := faint(tab); bad != "" {
				t.Errorf("%s, dark %v: hard to read: %s", name, w.Dark, bad)
			}
			if got := tab.Complaints(); len(got) > 0 {
				t.Errorf("%s: the page complains: %q", name, got)
			}
			shade := "light"
			if w.Dark {
				shade = "dark"
			}
			if !w.NoScript {
				shoot(tab, name+"-"+map[int]string{400: "400", 1280: "1280"}[w.Width]+"-"+shade)
			}
		}
	}
}

// faint is the first text whose contrast with what is behind it is below 4.5 to 1
// (WCAG 2.2, 1.4.3), or "".
func faint(tab *browser.Tab) string {
	return browser.Eval[string](tab, `(() => {
  const rgb = c => (c.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility() || e.matches('script,style,noscript')) continue;
    let back = e, bg = [0, 0, 0, 0];
    for (; back && bg[3] === 0; back = back.parentElement) { const c = rgb(getComputedStyle(back).backgroundColor); bg = c.length === 3 ? [...c, 1] : c; }
    if (bg[3] === 0) bg = [255, 255, 255, 1];
    const fg = rgb(e instanceof SVGElement ? getComputedStyle(e).fill : getComputedStyle(e).color);
    const [a, b] = [light(fg), light(bg)].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) return e.tagName + ' ' + e.textContent.trim().slice(0, 30) + ' ' + fg + ' on ' + bg;
  }
  return '';
})()`)
}

// While a campaign runs its page reloads, unless the reader says that it
// should not.
func reload(t *testing.T, b *browser.Browser) {
	tab := open(t, b, "running", "", browser.Window{Width: 1280, Height: 800})
	if !browser.Eval[bool](tab, "document.getElementById('reload').checked") {
		t.Error("it does not read itself anew")
	}
	tab.Click("#reload")
	if got := browser.Eval[string](tab, "location.hash"); got != "#still=1" {
		t.Errorf("nobody remembers: %s", got)
	}
	still := open(t, b, "running", "#still=1", browser.Window{Width: 1280, Height: 800})
	if browser.Eval[bool](still, "document.getElementById('reload').checked") {
		t.Error("it reads itself anew although somebody said that it should not")
	}
}

// A page with as many rows as there may be is still quick to use. The bound is for a
// machine with a lot else to do; on an idle one it takes a tenth of a second.
func manyRows(t *testing.T, b *browser.Browser) {
	l := &index.Library{}
	for n := range 1200 {
		r := index.Run{Scenario: fmt.Sprintf("scenario-%d", n), Title: "what it is about", Verdict: reports.Pass, AsExpected: true, Seed: uint64(n), Steps: n, Command: "ipamsim run x.yaml"}
		if n%3 == 0 {
			r.Verdict, r.Violations, r.Violated = reports.Fail, 1, []string{"leaked-claim"}
			r.Gravest = &model.Violation{Invariant: "leaked-claim", Severity: model.Minor, Message: strings.Repeat("a claim that nobody has ", 8)}
		}
		l.Add(r)
	}
	x, err := l.Index()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "index.html")
	page := drawn(t, x)
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	tab := b.Open(t, file, "", browser.Window{Width: 1280, Height: 800})
	tab.Wait("document.readyState == 'complete' && document.querySelectorAll('tbody tr').length == 1000")
	took := browser.Eval[float64](tab, `(() => {
  const from = performance.now(), search = document.querySelector('.tools input');
  search.value = 'nobody has';
  search.dispatchEvent(new Event('input'));
  document.querySelector('thead th:nth-child(8) button').click();
  document.body.getBoundingClientRect();
  return performance.now() - from;
})()`)
	t.Logf("search and sort of 1000 rows: %.0f ms, a page of %d kB", took, len(page)>>10)
	if took > 10_000 {
		t.Errorf("search and sort took %.0f ms", took)
	}
	if got := browser.Eval[string](tab, "document.querySelector('.tools output').textContent"); got != "400 of 1000 shown" {
		t.Errorf("it says %q", got)
	}
}
