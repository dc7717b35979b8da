package page_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"ipamsim/model"
	"ipamsim/model/recording"
	"ipamsim/reports/page/browser"
	"ipamsim/reports/page/pagetest"
	"ipamsim/reports/record"
)

// The windows of a desktop browser and of a phone.
var (
	desktop = pagetest.Desktop
	phone   = browser.Window{Width: 400, Height: 800}
)

// reader is a reader of a page.
type reader struct {
	*browser.Tab
	t testing.TB
}

// show draws a page and opens it for a reader.
func show(t testing.TB, b *browser.Browser, rec *record.Record, fragment string, w browser.Window) reader {
	t.Helper()
	return reader{pagetest.Show(t, b, rec, fragment, w), t}
}

// sees waits until an element holds a text, and until it does not hold another.
func (r reader) sees(css, text string) { r.t.Helper(); r.Sees(css, text) }

func (r reader) misses(css, text string) {
	r.t.Helper()
	r.Wait("!document.querySelector(" + quote(css) + ").textContent.includes(" + quote(text) + ")")
}

func (r reader) at(step string) { r.t.Helper(); r.sees("#position", "Step "+step+" of 8") }

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

// What readers do with a page, in one browser.
func TestPage(t *testing.T) {
	b := browser.Start(t)
	for _, reading := range []struct {
		name string
		test func(*testing.T, *browser.Browser)
	}{
		{"walk", testWalk},
		{"scene", testScene},
		{"search", testSearch},
		{"clicks", testClicks},
		{"source", testSource},
		{"hostile names stay text", testHostileNamesStayText},
		{"the policy blocks foreign scripts", testPolicyBlocksForeignScripts},
		{"screen reader", testScreenReader},
		{"phone", testPhone},
		{"phone order", testPhoneOrder},
		{"a replaced row", testReplacedRow},
		{"both address families", testBothFamilies},
		{"dark", testDark},
		{"without a script", testWithoutScript},
		{"other verdicts", testOtherVerdicts},
		{"50,000 steps", testFiftyThousandSteps},
	} {
		t.Run(reading.name, func(t *testing.T) { reading.test(t, b) })
	}
}

// A reader begins where the gravest violation happened, with the sentence, what the
// invariant means, and the command that shows it again; and walks from there.
func testWalk(t *testing.T, b *browser.Browser) {
	r := show(t, b, small("default/web-2"), "", desktop)
	r.sees("h1", "two pods on default/web-2")
	r.sees(".verdict", "Expected failure")
	r.sees("section.what", "At 7s, step 7: 10.0.0.1 is held by default/web-1 and default/web-2")
	r.sees("section.what", "No two live sandboxes hold one address.")
	r.sees("#command", "ipamsim run small.yaml --seed 7")
	r.at("7")

	// Buttons, keys, slider.
	r.Click("#prev")
	r.at("6")
	r.Press(kb.ArrowLeft)
	r.at("5")
	r.sees("#live", "reconciler removes 10.0.0.1")
	r.Press(kb.ArrowRight + kb.ArrowRight + kb.ArrowRight)
	r.at("8")
	r.Press(kb.Home)
	r.at("0")
	r.sees("#decision", "Before the first step")
	r.Press("n") // the first turning point
	r.at("3")
	r.sees("#decision", "one of 3 that could have come next")
	r.Click("#nextturn") // a fault
	r.at("4")
	r.sees("#decision", "fail-before (a fault: answered with an error, not delivered to the server)")
	r.Press("p")
	r.at("3")
	r.Press(kb.End)
	r.at("8")
	r.Click("#first")
	r.at("0")
	r.Click("#last")
	r.at("8")
	browser.Eval[bool](r.Tab, "(document.querySelector('#slider').focus(), true)")
	r.Press(kb.ArrowLeft)
	r.at("7")

	// A violation and a turning point lead to their step, and say so in the address.
	r.Click("ul.violations a")
	r.at("5")
	r.sees("#decision", "unbacked-sandbox")
	r.Click("ol.turns li:nth-child(1) a")
	r.at("3")
	r.Wait("location.hash == '#step=3'")
	r.Wait("document.querySelector('[aria-current=step]').textContent.includes('handed out')")
}

// At each step the tables are as they were then, and what the step changed is marked.
func testScene(t *testing.T, b *browser.Browser) {
	r := show(t, b, small("default/web-2"), "#step=3", desktop)
	r.at("3")
	r.sees("#changed .added", "10.0.0.1 · default/web-1")
	r.sees("#truth", "no violation")
	r.Press("n")
	r.Press("n")
	r.at("5")
	r.sees("#changed .removed", "10.0.0.1")
	r.sees("#tables tr.removed", "default/web-1")
	r.sees("#truth tr.wrong", "unbacked")
	r.sees("#reach", "Every node reaches every address")
	r.Press("n")
	r.at("7")
	r.sees("#truth tr.wrong", "duplicate")
	r.sees("#truth tr.wrong", "web-1 on node-a, web-2 on node-b")
	r.sees("#changed .changed", "default via 10.9.0.2")
	r.sees("#routes tr.changed", "default via 10.9.0.1")
	r.sees("#reach td.lost", "lost: 10.0.0.1")
	r.sees("#grid figcaption", "1 duplicate")
	r.Press(kb.ArrowRight)
	r.sees("#tables tr.changed del", "default/web-2")
	r.sees("#tables tr.changed ins", "default/renamed")

	// The routes of another node; back before all of it.
	browser.Eval[bool](r.Tab, "(n => { n.value = 'node-b'; n.dispatchEvent(new Event('change')); return true; })(document.querySelector('#node'))")
	r.sees("#routes", "blackhole 10.0.0.0/28")
	r.Wait("location.hash == '#step=8&node=node-b'")
	r.Press(kb.Home)
	r.misses("#tables", "default/web")
}

// In dual stack a node has a routing table of each family, addresses are in the order of
// numbers, and a loss names its family.
func testBothFamilies(t *testing.T, b *browser.Browser) {
	rec := small("default/web-2")
	route := func(dst, text string) recording.Change {
		return recording.Change{Table: 3, Key: "node-a " + dst, Row: []string{"node-a", dst, text}}
	}
	rec.Recording.Frames[0].Changes = append(rec.Recording.Frames[0].Changes,
		recording.Change{Table: 0, Key: "six", Row: []string{"six", "default/net", "fd00:1::/124", ""}},
		route("fd00:1::10/128", "fd00:1::10 dev cali2"), route("fd00:1::a/128", "fd00:1::a dev cali1"), route("fd00:1::/124", "blackhole fd00:1::/124"))
	rec.Recording.Frames[3].Changes[2].Row[2] = "10.0.0.1 fd00:1::7" // who is lost
	rec.Addresses = append(rec.Addresses, record.Held{Network: "default/net", Addr: "fd00:1::7", Spans: []record.Span{{Kind: record.Live, From: 3, Pod: "default/web-1", Node: "node-b"}}})
	r := show(t, b, rec, "#step=7", desktop)
	r.at("7")
	r.sees("#reach", "node-a does not reach 2 addresses, 1 of IPv6, on node-b")
	r.Wait("[...document.querySelectorAll('#routes h4')].map((h) => h.textContent).join() == 'IPv4,IPv6'")
	r.Wait("[...document.querySelectorAll('#routes table')].map((t) => [...t.querySelectorAll('code')].map((c) => c.textContent.split(' ').slice(0, 2).join(' ')).join()).join('|').endsWith('|blackhole fd00:1::/124,fd00:1::a dev,fd00:1::10 dev')")
	r.sees("#grid", "Pool six (fd00:1::/124)")
	r.misses("#grid", "too wide to draw")

	rec.Recording.Frames[3].Changes[2].Row[2] = "fd00:1::7"
	r = show(t, b, rec, "#step=7&node=node-b", desktop)
	r.at("7")
	r.sees("#reach", "node-a does not reach 1 address of IPv6 on node-b")
	r.Wait("document.querySelectorAll('#routes h4').length == 0 && document.querySelectorAll('#routes table').length == 1")
}

// What is searched stays in strip, lanes and tables, and the steps that match can be
// gone through. A link keeps it.
func testSearch(t *testing.T, b *browser.Browser) {
	r := show(t, b, small("default/web-2"), "", desktop)
	r.Type("#q", "web-2")
	r.sees("#matches", "steps")
	r.sees("#lanes .labels", "web-2")
	r.misses("#lanes .labels", "scheduler")
	r.sees("#strip .labels", "10.0.0.1")
	r.misses("#strip .labels", "10.0.0.2")
	r.Press(kb.Enter) // from 7 on
	r.at("8")
	r.Click("#prevmatch")
	r.at("7")
	r.Click("#prevmatch")
	r.at("6")
	r.Wait("location.hash == '#step=6&q=web-2'")
	r.Press(kb.Escape)
	browser.Eval[bool](r.Tab, "(document.querySelector('#q').focus(), true)")
	r.Press(kb.Escape)
	r.sees("#lanes .labels", "scheduler")

	r = show(t, b, small("default/web-2"), "#step=2&q=reconciler", desktop)
	r.at("2")
	r.sees("#lanes .labels", "reconciler")
	r.misses("#lanes .labels", "web-1")
	r.Click("#strip .labels .label") // nothing fits; no harm
	r.Click("#nextmatch")
	r.at("4")
}

// A click into strip, lanes and list goes to the step that is there.
func testClicks(t *testing.T, b *browser.Browser) {
	r := show(t, b, small("default/web-2"), "", desktop)
	r.Click("#zoomall")
	for css, share := range map[string]float64{"#strip canvas": 3.5 / 9, "#lanes canvas": 3.5 / 9} {
		r.Press(kb.Home)
		at := browser.Eval[[]float64](r.Tab, "(e => { e.scrollIntoView({block: 'center', behavior: 'instant'}); const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })(document.querySelector("+quote(css)+"))")
		r.ClickAt(at[0]+share*at[2], at[1]+at[3]/2)
		r.at("3")
	}
	browser.Eval[bool](r.Tab, "(document.querySelector('#list').scrollIntoView({block: 'center', behavior: 'instant'}), true)")
	r.Click("#list [data-step='5']")
	r.at("5")
	r.Wait("document.querySelector('#list .now').textContent.includes('removes 10.0.0.1')")
}

// A pod whose name is a program stays a name, in every place of the page: nothing
// runs, nothing is asked of anybody, no element is made of it.
func testHostileNamesStayText(t *testing.T, b *browser.Browser) {
	r := show(t, b, small("default/"+hostile), "", desktop)
	r.Press(kb.Home)
	for step := 0; step <= 8; step++ {
		r.Press(kb.ArrowRight)
	}
	r.at("8")
	r.Type("#q", hostile)
	r.sees("#matches", "steps")
	if got := browser.Eval[int](r.Tab, "document.querySelectorAll('img, iframe, script[src]').length + document.scripts.length"); got != 2 {
		t.Errorf("%d scripts and pictures; want two, the record and the program", got)
	}
	if text := browser.Eval[string](r.Tab, "document.body.innerText"); !strings.Contains(text, hostile) {
		t.Error("the name is not on the page as it is")
	}
}

// A step and a turn say which line of the manager's source sent the message, and lead to
// it where it is certain where that is. Names of functions and files are text.
func testSource(t *testing.T, b *browser.Browser) {
	rec := small("default/web-2")
	const up = "github.com/a/up"
	free := model.Frame{Function: up + "/loop.Loop.Free", File: "loop/loop.go", Line: 200}
	rec.Sites = []model.CallSite{
		{Module: up + "@v1.2.3", Frames: []model.Frame{{Function: up + "/store.(*Pool).Update", File: "store/pool.go", Line: 231}, free}},
		{Module: up + "@v1.2.3 => ../" + hostile, Frames: []model.Frame{{Function: up + "/store." + hostile, File: hostile + ".go", Line: 7}}},
		{Module: up + "@v1.2.3", Informer: true},
	}
	rec.Steps[4].Site, rec.Steps[5].Site, rec.Steps[6].Site = 1, 2, 3
	turns := rec.Violations[1].Turns
	turns[1].Site, turns[2].Site = &rec.Sites[0], &rec.Sites[1]
	r := show(t, b, rec, "#step=5", desktop)
	const to = "[href='https://github.com/a/up/blob/v1.2.3/store/pool.go#L231'][rel='noopener noreferrer']"
	r.sees("#decision .source a"+to, "store/pool.go:231")
	r.sees("#decision .source", "(*Pool).Update, called by loop/loop.go:200 Loop.Free")
	r.sees("ol.turns li:nth-child(2) .code a"+to, "pool.go:231")
	r.sees("ol.turns li:nth-child(2) .code", "← loop.go:200 Loop.Free")
	r.Press(kb.ArrowRight)
	r.sees("#decision .source", hostile+".go:7 ")
	r.sees("ol.turns li:nth-child(3) .code", "img src=x onerror=alert(2)>.go:7 ")
	r.Press(kb.ArrowRight)
	r.sees("#decision .source", "an informer of client-go")
	r.Press(kb.ArrowRight)
	r.misses("#decision", "Source")
	if n := browser.Eval[int](r.Tab, "document.querySelectorAll('.code, #decision .source').length * 100 + document.querySelectorAll('.code a, .code img').length"); n != 202 {
		t.Errorf("%d hundreds of lines, and %d links", n/100, n%100)
	}
}

// The policy of the page stops what would not be stopped by escaping.
func testPolicyBlocksForeignScripts(t *testing.T, b *browser.Browser) {
	r := show(t, b, small("default/web-2"), "", desktop)
	ran := browser.Eval[bool](r.Tab, `(() => {
		const s = document.createElement('script');
		s.textContent = 'window.ran = true';
		document.body.append(s);
		const i = new Image();
		i.src = 'http://127.0.0.1:9/pixel';
		return Boolean(window.ran);
	})()`)
	if ran {
		t.Error("a foreign script ran")
	}
	said := strings.Join(r.Forgive(), "\n")
	for _, want := range []string{"Executing inline script violates", "Loading the image 'http://127.0.0.1:9/pixel' violates"} {
		if !strings.Contains(said, want) {
			t.Errorf("the browser said %q; want %q", said, want)
		}
	}
}
