package page_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"ipamsim/reports/page/browser"
	"ipamsim/reports/page/pagetest"
	"ipamsim/sim/longtest"
)

// A run of 50,000 steps on 200 addresses of 20 nodes can still be walked through:
// a step, a jump, and scrolling are on the screen in less than 100 ms.
//
// Measured in the page, from before the action until the frame after it has been
// painted, two frames of 16.7 ms included. Judged is the quicker quarter of 15: what
// else the machine does is no matter of the page. Where it has more to do than it
// has processors, the limit is longer by as much.
func testFiftyThousandSteps(t *testing.T, b *browser.Browser) {
	longtest.Skip(t) // and it judges times
	const steps, limitMs = 50000, 100
	rec := large(steps)
	file := pagetest.Draw(t, rec)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	tab := b.Open(t, file, "", desktop)
	tab.Wait("document.documentElement.dataset.ready == 'yes'")
	t.Logf("%d steps on %d addresses: %.1f MB, ready after %.0f ms", steps, len(rec.Addresses), float64(info.Size())/1e6,
		browser.Eval[float64](tab, "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"))
	const measure = `(async (act) => {
		const painted = () => new Promise((f) => requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = f; c.port2.postMessage(0); }));
		const took = [];
		for (let i = 0; i < 15; i++) {
			await painted();
			const before = performance.now();
			act(i);
			await painted();
			await painted();
			took.push(performance.now() - before);
		}
		took.sort((a, b) => a - b);
		return [took[3], took[7], took[14]];
	})`
	for _, m := range []struct{ name, act, at string }{
		{"nothing", "() => {}", "#bar"},
		{"a step", "() => document.querySelector('#next').click()", ""},
		{"a step back", "() => document.querySelector('#prev').click()", ""},
		{"a jump", "(i) => { location.hash = '#step=' + (i * 7919 % 50000); }", ""},
		{"the slider", "(i) => { const s = document.querySelector('#slider'); s.value = i * 1999; s.dispatchEvent(new Event('input')); }", ""},
		{"scrolling the steps", "(i) => { document.querySelector('#list').scrollTop = i * 40000; }", ""},
		{"scrolling the strip", "(i) => { document.querySelector('#strip .scroller').scrollTop = i * 150; }", ""},
		{"scrolling the lanes", "(i) => { document.querySelector('#lanes .scroller').scrollTop = i * 150; }", ""},
		{"a step at the truth", "() => document.querySelector('#next').click()", "#truth"},
		{"a jump at the truth", "(i) => { location.hash = '#step=' + (i * 7919 % 50000); }", "#truth"},
		{"a jump at the tables", "(i) => { location.hash = '#step=' + (i * 7919 % 50000); }", "#tables"},
		{"the whole run", "(i) => document.querySelector(i % 2 ? '#zoomall' : '#zoomin').click()", ""},
	} {
		if m.at != "" {
			browser.Eval[bool](tab, "(document.querySelector('"+m.at+"').scrollIntoView({ behavior: 'instant' }), true)")
		}
		ms := browser.Eval[[]float64](tab, measure+"("+m.act+")")
		t.Logf("%-20s %4.0f ms, median %4.0f, at worst %4.0f", m.name, ms[0], ms[1], ms[2])
		if limit := limitMs * busy(); ms[0] > limit {
			t.Errorf("%s takes %.0f ms; want less than %.0f", m.name, ms[0], limit)
		}
	}

	// What is far down the list is drawn when it is there, and only that.
	browser.Eval[bool](tab, "(location.hash = '#step=40000', true)")
	tab.Wait("document.querySelector('#list .now')?.dataset.step === '40000'")
	if n := browser.Eval[int](tab, "document.querySelectorAll('#list .line').length"); n > 60 {
		t.Errorf("%d lines of the list exist at once", n)
	}
	if c := tab.Complaints(); len(c) > 0 {
		t.Errorf("the page said %q", c)
	}
}

// busy is how many processes want each processor, at least 1, as far as Linux says.
func busy() float64 {
	var load float64
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, _ = fmt.Sscan(string(b), &load)
	}
	return max(1, load/float64(runtime.NumCPU()))
}
