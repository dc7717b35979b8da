package scenarios_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/reports/page"
	"ipamsim/reports/page/browser"
	"ipamsim/reports/page/pagetest"
	"ipamsim/reports/record"
	"ipamsim/scenarios"
)

var pageShots = flag.String("screenshots", "", "write screenshots of the pages of r1, w2 and t1 into this `directory`")

// pageStories are the three runs that README shows, and what their pages must explain to a reader who
// does not know the reports.
var pageStories = []struct {
	scenario string
	says     map[string][]string // by element
	shots    []pageShot
}{
	{"r1-whereabouts-162", map[string][]string{
		"h1": {"removes the address of a pod that is still Pending"},
		"header a[href='https://github.com/k8snetworkplumbingwg/whereabouts/issues/162']": {"#162"},
		"section.what":  {"10.128.165.33", "is held by two live sandboxes: default/web-1 on worker-2", "default/web-2 on worker-3", "duplicate-address"},
		"section.turns": {"reads default/web-1: Pending, no network-status", "removes 10.128.165.33", "handed out AGAIN, still held by default/web-1"},
		"section.turns .code a[href='https://github.com/k8snetworkplumbingwg/whereabouts/blob/v0.9.4/pkg/reconciler/iploop.go#L200']": {"iploop.go:200"},
		"#decision .source": {"pkg/storage/kubernetes/ipam.go:502 IPManagement.func2.1"},
		"#truth":            {"duplicate: two live sandboxes have it", "web-1 on worker-2, web-2 on worker-3"},
		"ul.violations":     {"unbacked-sandbox 10.128.165.33"},
		"#more ~ h3":        {"Before it: 3"},
		"#decision":         {"handed out AGAIN, still held by default/web-1", "With the message: "},
		"#command":          {"scenarios/r1-whereabouts-162.yaml --seed 7"},
		"#lanes .labels":    {"ip-reconciler", "web-1", "web-2"},
	}, []pageShot{{"r1", browser.Window{Width: 1280, Height: 1420}, ""}, {"r1-phone", browser.Window{Width: 400, Height: 900, Dark: true}, "#bar"}}},
	{"w2-borrowed-from-kubestage1001", map[string][]string{
		"h1":            {"borrows 10.64.75.0"},
		"section.what":  {"kubestage1001.eqiad.wmnet cannot reach 10.64.75.0 on kubestage1003.eqiad.wmnet", `blackhole 10.64.75.0/26 proto bird`},
		"#routes":       {"blackhole 10.64.75.0/26 proto bird", "drops packets without a more specific route"},
		"#reach":        {"1 pair of nodes", "lost: 10.64.75.0", "dropped on the node itself", "kubestage1001 does not reach 1 address on kubestage1003"},
		"section.turns": {"unreachable, no route for it at tor1", "now for another reason: dropped on the node itself"},
		"ul.violations": {"13 more blackholed-address"},
		"#truth":        {"blackholed", "borrowed from a block of kubestage1001", "staging-7d59b889c9-w57rg on kubestage1003"},
		"#grid":         {"Block 10.64.75.0/26, of kubestage1001"},
		"#screens":      {"calicoctl ipam show --show-borrowed"},
	}, []pageShot{{"w2", browser.Window{Width: 1280, Height: 1400}, ""}}},
	{"t1-tkg-range-exhausted", map[string][]string{
		"h1":               {"a worker is replaced without CNI DEL", "five addresses are too few"},
		"section.what":     {"172.18.178.198 stays claimed", "no live sandbox", "2 pods have no address: ", " CNI ADDs were refused, the last at 5m5", "Could not allocate IP in range", "Addresses are wasted, and pods wait for one"},
		"section.turns":    {"operator: replace node worker-2 by worker-3", "is gone: power lost", "step 258", "ADD of nstest/app-977847f4b-89mqv fails", "refused 35 more times"},
		"#lanes .labels":   {"…89mqv", "…gl6s7"},
		"#grid figcaption": {"0 of 5 free"},
		"#truth":           {"5 addresses: 5 claimed, 3 live; 2 claimed without a live sandbox", "leaked: claimed, and its sandbox is gone"},
	}, []pageShot{{"t1", browser.Window{Width: 1280, Height: 1300}, ""}}},
}

// pageShot is a picture of a page: what of it, seen how.
type pageShot struct {
	name   string
	window browser.Window
	at     string // scrolled to this element
}

func TestStories(t *testing.T) {
	records := map[string]*record.Record{}
	r := runner(t)
	for _, s := range pageStories {
		records[s.scenario] = recorded(t, r, s.scenario)
	}
	const bytesMax = 1 << 20
	var drawn bytes.Buffer
	if err := page.Write(&drawn, records["r1-whereabouts-162"]); err != nil || drawn.Len() > bytesMax {
		t.Errorf("the page of r1 has %d bytes; want at most %d (%v)", drawn.Len(), bytesMax, err)
	}
	b := browser.Start(t)
	for _, s := range pageStories {
		t.Run(s.scenario, func(t *testing.T) {
			r := pagetest.Show(t, b, records[s.scenario], "", pagetest.Desktop)
			for css, texts := range s.says {
				for _, text := range texts {
					r.Sees(css, text)
				}
			}
			// The list of steps is where the playhead is.
			r.Wait("document.querySelector('#list .now')?.checkVisibility() === true")
			if s.scenario == "w2-borrowed-from-kubestage1001" {
				seeTheWorst(t, r)
			}
			if *pageShots == "" {
				return
			}
			for _, sh := range s.shots {
				shootPage(t, b, records[s.scenario], sh)
			}
		})
	}
}

// recorded is a run of a scenario of the library with its own seed.
func recorded(t *testing.T, runner *scenarios.Runner, name string) *record.Record {
	t.Helper()
	rep := run(t, runner, own(t, name+".yaml"), scenarios.Options{Recording: true})
	rep.File = "scenarios/" + name + ".yaml"
	return record.Of(rep)
}

func shootPage(t *testing.T, b *browser.Browser, rec *record.Record, sh pageShot) {
	t.Helper()
	r := pagetest.Show(t, b, rec, "", sh.window)
	if sh.at != "" {
		browser.Eval[bool](r, `(async () => {
			const bar = document.querySelector('#bar').offsetHeight;
			const e = document.querySelector(`+strconv.Quote(sh.at)+`);
			for (let i = 0; i < 5; i++) { // what is above may still grow
				scrollTo({ top: e.getBoundingClientRect().top + scrollY - (e.id === 'bar' ? 8 : bar + 8), behavior: 'instant' });
				await new Promise((f) => setTimeout(f, 200));
			}
			return true;
		})()`)
	}
	file := filepath.Join(*pageShots, sh.name+".png")
	if err := os.MkdirAll(*pageShots, 0o755); err != nil {
		t.Fatal(err)
	}
	r.Screenshot(file, false)
	if err := browser.Slim(file); err != nil {
		t.Fatal(err)
	}
}

// The page of w2 shows the worst state without navigating to it.
func seeTheWorst(t *testing.T, r *browser.Tab) {
	r.Sees("#reach", "At its worst, at step 3458: kubestage1001 does not reach 7 addresses on kubestage1003; kubestage1002 does not reach")
	const choose = "(n => { n.value = 'worst'; n.dispatchEvent(new Event('change')); return document.querySelectorAll('#reach td.lost').length; })(document.querySelector('#reachwhen'))"
	if lost := browser.Eval[int](r, choose); lost < 2 {
		t.Errorf("%d pairs of nodes are lost at the worst; want more than the first", lost)
	}
	r.Sees("#reach caption", "at step 3458")
	r.Sees("#position", "Step 2621 of")
}

// Who goes to the moment at which worker-2 loses its power sees what it took along.
func TestStoryCardShowsItsEffect(t *testing.T) {
	rec := recorded(t, runner(t), "t1-tkg-range-exhausted")
	for i := range rec.Violations { // as if a search had tried it
		rec.Violations[i].Races = []model.Race{{Read: 3, Change: 4, Use: 5}}
	}
	r := pagetest.Show(t, browser.Start(t), rec, "#step=3", pagetest.Desktop)
	browser.Eval[bool](r, "([...document.querySelectorAll('ol.turns a')].find((a) => a.textContent.includes('power lost')).click(), true)")
	r.Sees("#position", fmt.Sprintf("of %d at 1m0.00", len(rec.Steps)))
	r.Sees("#decision", "sandbox of nstest/app-977847f4b-bcxxb on worker-2 is gone: power lost")
	r.Sees("#changed", "sandbox of app-977847f4b-bcxxb on worker-2 with 172.18.178.198: gone, power lost")
	r.Sees("#truth", "5 claimed, 3 live; 2 claimed without a live sandbox")
	for i, part := range []string{"A change: ", "A use: ", "A read: "} {
		step := []int{4, 5, 3}[i]
		time.Sleep(200 * time.Millisecond) // until the address says where it was before
		browser.Eval[bool](r, fmt.Sprintf("(location.hash = '#step=%d', true)", step))
		r.Sees("#position", fmt.Sprintf("Step %d of", step))
		r.Sees("#decision", part)
	}
}
