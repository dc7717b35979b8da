package browser

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// Eval is the value of a JavaScript expression in the page, waited for if it is a
// promise.
func Eval[T any](tab *Tab, js string) T {
	tab.t.Helper()
	v, err := chromedp.Run(tab.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		tab.t.Fatalf("%s: %v; the page said %q", js, err, tab.Complaints())
	}
	return v
}

// Wait returns when a JavaScript expression is true.
func (tab *Tab) Wait(js string) {
	tab.t.Helper()
	if _, err := chromedp.Run(tab.ctx, chromedp.Poll[bool](js)); err != nil {
		tab.t.Fatalf("waiting for %s: %v; the page said %q", js, err, tab.Complaints())
	}
}

// Sees waits until the first element of a CSS selector holds a text.
func (tab *Tab) Sees(css, text string) {
	tab.t.Helper()
	held := "document.querySelector(" + strconv.Quote(css) + ")?.textContent"
	if _, err := chromedp.Run(tab.ctx, chromedp.Poll[bool](held+".includes("+strconv.Quote(text)+") === true")); err != nil {
		tab.t.Fatalf("waiting for %q in %s: %v; it holds %q; the page said %q", text, css, err,
			Eval[string](tab, held+" ?? ''"), tab.Complaints())
	}
}

// Click on what a CSS selector finds first, as soon as it can be seen.
func (tab *Tab) Click(css string) {
	tab.t.Helper()
	tab.do(chromedp.Click(chromedp.CSS(css), chromedp.NodeVisible))
}

// ClickAt clicks at a place of the window, in CSS pixels.
func (tab *Tab) ClickAt(x, y float64) {
	tab.t.Helper()
	tab.do(chromedp.MouseClickXY(x, y))
}

// Type writes into a field.
func (tab *Tab) Type(css, text string) {
	tab.t.Helper()
	tab.do(chromedp.Click(chromedp.CSS(css), chromedp.NodeVisible), chromedp.KeyEvent(text))
}

// Press keys, wherever the focus is: package github.com/chromedp/chromedp/kb names
// those that are no characters.
func (tab *Tab) Press(keys string) {
	tab.t.Helper()
	tab.do(chromedp.KeyEvent(keys))
}

// Text is what can be seen of the page, read without its scripts.
func (tab *Tab) Text() string {
	tab.t.Helper()
	r, err := chromedp.Run(tab.ctx, chromedp.Text(chromedp.CSS("body")))
	if err != nil {
		tab.t.Fatal(err)
	}
	return r
}

// Screenshot writes what the window shows as PNG; whole, all of the page.
func (tab *Tab) Screenshot(file string, whole bool) {
	tab.t.Helper()
	shoot := chromedp.CaptureScreenshot()
	if whole {
		shoot = chromedp.FullScreenshot(100)
	}
	png, err := chromedp.Run(tab.ctx, shoot)
	if err == nil {
		err = os.WriteFile(file, png, 0o644)
	}
	if err != nil {
		tab.t.Fatal(err)
	}
}

// controls lists the roles of interactive elements.
var controls = []string{"button", "link", "textbox", "searchbox", "combobox", "slider", "checkbox", "listbox", "tab", "radio", "option", "switch", "spinbutton"}

// Nameless are the controls that a screen reader could not name, and Controls how
// many there are.
func (tab *Tab) Nameless() (nameless []string, all int) {
	tab.t.Helper()
	for _, n := range tab.tree() {
		role := value(n.Role)
		if n.Ignored || !slices.Contains(controls, role) {
			continue
		}
		all++
		if strings.TrimSpace(value(n.Name)) == "" {
			nameless = append(nameless, fmt.Sprintf("%s %s (node %d)", role, value(n.Value), n.BackendDOMNodeID))
		}
	}
	return nameless, all
}

// Roles are how often each role is in the accessibility tree.
func (tab *Tab) Roles() map[string]int {
	tab.t.Helper()
	roles := map[string]int{}
	for _, n := range tab.tree() {
		if !n.Ignored {
			roles[value(n.Role)]++
		}
	}
	return roles
}

func (tab *Tab) tree() []*accessibility.Node {
	tab.t.Helper()
	r, err := chromedp.Run(tab.ctx, func(ctx context.Context, t *chromedp.Target) (accessibility.GetFullAXTreeResult, error) {
		return cdp.Call(ctx, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	})
	if err != nil {
		tab.t.Fatal(err)
	}
	return r.Nodes
}

func value(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	return strings.Trim(string(v.Value), `"`)
}
