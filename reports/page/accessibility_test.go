package page_test

import (
	"bytes"
	"image"
	_ "image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ipamsim/model/recording"
	"ipamsim/reports"
	"ipamsim/reports/page"
	"ipamsim/reports/page/browser"
	"ipamsim/reports/record"
	"ipamsim/reports/timeline"
)

// Every control has a name, the page its landmarks, and what is said when the
// playhead moves is said politely.
func testScreenReader(t *testing.T, b *browser.Browser) {
	r := show(t, b, small("default/web-2"), "", desktop)
	nameless, all := r.Nameless()
	if len(nameless) > 0 || all < 30 {
		t.Errorf("%d controls; without a name: %q", all, nameless)
	}
	r.Wait("document.querySelectorAll('#truth table, #reach table, #tables details[open] table').length >= 3")
	roles := r.Roles()
	for role, least := range map[string]int{"main": 1, "banner": 1, "complementary": 1, "search": 1, "slider": 1, "listbox": 1, "heading": 8, "image": 2, "table": 3} {
		if roles[role] < least {
			t.Errorf("%d %ss; want at least %d", roles[role], role, least)
		}
	}
	if live := browser.Eval[string](r.Tab, "document.querySelector('#live').getAttribute('aria-live')"); live != "polite" {
		t.Errorf("the step is announced as %q", live)
	}
	r.sees("#live", "duplicate-address")
	r.Press("p")
	r.sees("#live", "removes 10.0.0.1")

	// The focus goes through what can be used in the order in which it is seen, and
	// shows where it is.
	const order = `[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
		.filter((e) => e.checkVisibility() && !e.disabled && !e.closest('.labels, aside, header, .skip'))
		.map((e) => e.getBoundingClientRect().top + scrollY)`
	tops := browser.Eval[[]float64](r.Tab, order)
	for i := 1; i < len(tops); i++ {
		if tops[i] < tops[i-1]-30 { // controls on one line differ by a few pixels
			t.Errorf("control %d stands %.0f pixels above the one before it", i, tops[i-1]-tops[i])
		}
	}
}

// On a phone nothing sticks out to the side, not of a long name either.
func testPhone(t *testing.T, b *browser.Browser) {
	for _, rec := range []*record.Record{small("default/web-2"), small("default/" + hostile), small("default/" + string(bytes.Repeat([]byte("x"), 250)))} {
		r := show(t, b, rec, "", phone)
		for step := 0; step <= 8; step++ {
			r.Press("\u200b") // nothing; a frame passes
			if w := browser.Eval[float64](r.Tab, "(document.querySelector('#next').click(), document.documentElement.scrollWidth)"); w > 400 {
				t.Errorf("%s: %.0f pixels wide on 400", rec.Title[:20], w)
			}
		}
		if w := browser.Eval[float64](r.Tab, "new Promise((f) => setTimeout(() => f(document.documentElement.scrollWidth), 100))"); w > 400 {
			t.Errorf("%.20s: %.0f pixels wide on 400", rec.Title, w)
		}
	}
}

// In the dark the page is dark, its canvases too.
func testDark(t *testing.T, b *browser.Browser) {
	brightness := func(w browser.Window) (page, strip float64) {
		r := show(t, b, small("default/web-2"), "", w)
		browser.Eval[bool](r.Tab, "(document.querySelector('#strip').scrollIntoView({block: 'center', behavior: 'instant'}), true)")
		file := filepath.Join(t.TempDir(), "shot.png")
		r.Screenshot(file, false)
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		img, _, err := image.Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		box := browser.Eval[[]float64](r.Tab, "(e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })(document.querySelector('#strip canvas'))")
		return mean(img, img.Bounds()), mean(img, image.Rect(int(box[0]), int(box[1]), int(box[2]), int(box[3])))
	}
	dark := desktop
	dark.Dark = true
	if page, strip := brightness(desktop); page < 0.8 || strip < 0.6 {
		t.Errorf("by day: the page %.2f, the strip %.2f of white", page, strip)
	}
	if page, strip := brightness(dark); page > 0.25 || strip > 0.45 {
		t.Errorf("in the dark: the page %.2f, the strip %.2f of white", page, strip)
	}
}

// mean is the brightness of a part of a picture, 0 to 1.
func mean(img image.Image, part image.Rectangle) float64 {
	part = part.Intersect(img.Bounds())
	sum := 0.0
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			sum += float64(r+g+b) / (3 * 0xffff)
		}
	}
	return sum / float64(part.Dx()*part.Dy())
}

// Without a script, and on paper, the page still says what happened and how it came
// about.
func testWithoutScript(t *testing.T, b *browser.Browser) {
	plain, paper := desktop, desktop
	plain.NoScript, paper.Paper = true, true
	for _, w := range []browser.Window{plain, paper} {
		r := show(t, b, small("default/web-2"), "", w)
		if w.Paper {
			browser.Eval[bool](r.Tab, "dispatchEvent(new Event('beforeprint'))")
		}
		text := r.Text()
		for _, want := range []string{"Expected failure", "No two live sandboxes hold one address.", "10.0.0.1 is handed out AGAIN", "ipamsim run small.yaml"} {
			if !bytes.Contains([]byte(text), []byte(want)) {
				t.Errorf("paper %v: %q is not to be seen", w.Paper, want)
			}
		}
		if w.Paper && !bytes.Contains([]byte(text), []byte("the timeline of default/web-2")) {
			t.Error("the timeline is not on the paper")
		}
	}
}

// A run in which nothing broke, one that proved nothing, and one of which hardly
// anything is known read well, too.
func testOtherVerdicts(t *testing.T, b *browser.Browser) {
	pass := small("default/web-2")
	pass.Verdict, pass.Violations, pass.Expected = reports.Pass, nil, nil
	r := show(t, b, pass, "", desktop)
	r.sees(".verdict", "Pass: no violation")
	r.sees("header", "Every invariant held after every step")
	r.at("8")

	unknown := small("default/web-2")
	unknown.Verdict, unknown.Reason, unknown.Violations, unknown.AsExpected = reports.Unknown, "10 steps are too few", nil, false
	r = show(t, b, unknown, "", desktop)
	r.sees(".verdict", "Unknown: the run did not finish")
	r.sees("header", "10 steps are too few")

	surprise := small("default/web-2")
	surprise.AsExpected, surprise.Expected = false, nil
	r = show(t, b, surprise, "", desktop)
	r.sees(".verdict", "Unexpected failure")

	// A cluster that was imported with a duplicate: the page begins with what is new, and
	// the page does not call the cluster a known weakness.
	dumped := small("default/web-2")
	dumped.Imported, dumped.AsExpected, dumped.Expected, dumped.Violations[1].Known = true, false, nil, true
	dumped.Events = append(dumped.Events, record.Event{Step: 4, At: time.Second, Kind: "operator", Text: "operator: drain node-a"})
	r = show(t, b, dumped, "", desktop)
	r.sees(".verdict", "New since the dump: 1 violation")
	r.sees(".verdict", "In the dump: 1 violation.")
	r.sees("section.what", "default/web-1 has 10.0.0.1, but no claim says so")
	r.sees("section.since", "operator: drain node-a")
	r.sees("section.since .end", "unbacked-sandbox")
	r.at("5")

	dumped.AsExpected, dumped.Violations = true, dumped.Violations[1:]
	r = show(t, b, dumped, "", desktop)
	r.sees(".verdict", "Nothing new since the dump: its violations remain")
	r.sees("#what", "Violation in the dump")

	r = show(t, b, &record.Record{Format: record.Format, Scenario: "empty", Verdict: reports.Unknown}, "#step=99&q=x", desktop)
	r.sees("#position", "Step 0 of 0")
}

// The bytes of a page are a function of the record.
func TestBytes(t *testing.T) {
	var a, b bytes.Buffer
	if err := page.Write(&a, small("x")); err != nil {
		t.Fatal(err)
	}
	if err := page.Write(&b, small("x")); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the same record drawn twice differs")
	}
}

// On a phone the picture comes before the cards, whose last few are enough to
// begin with, and the truth stands below the record.
func testPhoneOrder(t *testing.T, b *browser.Browser) {
	rec := small("default/web-2")
	v := &rec.Violations[1]
	for range 10 {
		v.Turns = append([]timeline.Turn{v.Turns[0]}, v.Turns...)
	}
	r := show(t, b, rec, "", phone)
	const top = "((css) => { const e = [...document.querySelectorAll(css)].find((x) => x.checkVisibility()); return e.getBoundingClientRect().top; })"
	if browser.Eval[float64](r.Tab, top+"('#strip')") > browser.Eval[float64](r.Tab, top+"('ol.turns li')") {
		t.Error("the cards stand before the picture")
	}
	cards := "[...document.querySelectorAll('aside section.turns > ol > li')].filter((e) => e.checkVisibility()).length"
	if n := browser.Eval[int](r.Tab, cards); n != 6 && n != 7 {
		t.Errorf("%d cards to begin with; want the last five, the end, and the one that is current", n)
	}
	r.Click(".allturns")
	if n := browser.Eval[int](r.Tab, cards); n != 14 {
		t.Errorf("%d cards; want all 14", n)
	}
	r.Wait("document.querySelectorAll('#truth td').length > 0") // out of sight it is drawn when the reader rests
	if w := browser.Eval[float64](r.Tab, "Math.max(...[...document.querySelectorAll('#truth td')].map((e) => e.getBoundingClientRect().right))"); w > 400 {
		t.Errorf("the truth ends at %.0f pixels of 400", w)
	}
}

// A row that another takes the place of is a change of what is there, not something
// that went and something that came.
func testReplacedRow(t *testing.T, b *browser.Browser) {
	rec := small("default/web-2")
	last := &rec.Recording.Frames[len(rec.Recording.Frames)-1]
	last.Changes = []recording.Change{{Table: 1, Key: "1"}, {Table: 1, Key: "2", Row: []string{"10.0.0.1", "default/web-3"}}}
	r := show(t, b, rec, "#step=8", desktop)
	r.sees("#changed .changed del", "default/web-2")
	r.sees("#changed .changed ins", "default/web-3")
	r.sees("#tables tr.changed del", "default/web-2")
	if n := browser.Eval[int](r.Tab, "document.querySelectorAll('#changed li, #tables tr.changed').length"); n != 2 {
		t.Errorf("%d changes; want one in what changed and one in its table", n)
	}
}
