package index_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/index"
)

// hostile is a name that wants to be markup wherever it stands.
const hostile = `"></td><script>alert(1)</script><img src=x onerror=alert(2)>` + "\u202e'{{.}}"

// endless is a word that fits nowhere.
var endless = strings.Repeat("w", 200)

// campaign is one of four findings, among them one with a hostile name of everything.
func campaign() *index.Campaign {
	c := &index.Campaign{
		Name: "whereabouts " + hostile, Ended: "time is up", Elapsed: 5 * time.Minute, Runs: 3880, Unknown: 1, States: 12129, Pairs: 1438, Caught: 3, Canaries: 3,
		Allocators: 811, UnseenStates: "4.1 % (3.2 to 5)", UnseenAllocators: hostile,
		Worlds: 3870, Quiet: 401, Lacking: []index.Lacking{{Class: "operator", Worlds: 1312}},
		Deaths: []string{hostile}, Defects: []string{"seed 7 " + hostile}, Defective: 3,
	}
	for i, f := range []index.Finding{
		{Fingerprint: "c59c478e931e", Invariant: "duplicate-address", Severity: model.Critical, Sentence: "the reconciler removes 10.0.0.1; so two pods have it", Steps: 55, Count: 5, Small: true},
		{Fingerprint: "0de71b8f6f9d", Invariant: "unbacked-sandbox", Severity: model.Major, Sentence: "a PATCH is lost", Steps: 20, Count: 61, Small: true},
		{Fingerprint: "d6e32375a097", Invariant: "leaked-claim", Severity: model.Minor, Sentence: hostile, Steps: 97, Count: 7, Small: true},
		{Fingerprint: "41272ea77b45", Invariant: hostile, Severity: model.Severity(hostile), Sentence: endless, Steps: 410, Count: 2},
	} {
		f.Upstream = []string{"github.com/k8snetworkplumbingwg/whereabouts@v0.9.4", "github.com/projectcalico/calico@v3.31.0"}[i%2]
		f.File, f.Page, f.FirstAfter, f.FirstRun, f.Pods = f.Fingerprint+".yaml", f.Fingerprint+".html", float64(i)*1.5, uint64(i*17), 2
		c.Findings = append(c.Findings, f)
	}
	c.Findings[3].Page = "javascript:alert(3)"
	for i := range 120 {
		c.Series = append(c.Series, index.Sample{
			At: time.Duration(i) * 2500 * time.Millisecond, Runs: uint64(i * 32), States: 12129 * i / 119, Pairs: 1438 * i / 119, Findings: i / 30,
		})
	}
	return c
}

// library is three scenarios under two seeds each.
func library() *index.Library {
	var runs []index.Run
	for i, name := range []string{"r1-whereabouts-162", "ok-nothing", hostile} {
		for seed := range uint64(2) {
			r := index.Run{
				Scenario: name, Title: "title of " + name, Upstream: "github.com/k8snetworkplumbingwg/whereabouts@v0.9.4", Strategy: "timed", Store: "etcd", Seed: seed + 1,
				Verdict: reports.Pass, AsExpected: true, Steps: 100 * (i + 1), Calls: 50, Virtual: 2 * time.Minute, Wall: 400 * time.Millisecond, Command: "ipamsim run " + name,
			}
			if i != 1 {
				r.Verdict, r.Violated, r.Violations = reports.Fail, []string{"duplicate-address", "unbacked-sandbox"}, 2
				r.Gravest = &model.Violation{Invariant: "duplicate-address", Severity: model.Critical, Message: "10.0.0.1 is held twice by " + name}
				r.AsExpected = i == 0
			}
			runs = append(runs, r)
		}
	}
	runs[3].Scenario, runs[3].Gravest = endless, &model.Violation{Invariant: endless, Message: endless}
	runs[0].Page = "library-pages/r1-1.html"
	l := &index.Library{}
	for _, r := range runs {
		l.Add(r)
	}
	return l
}

// pages of both kinds, as text.
func pages(t *testing.T) map[string]string {
	t.Helper()
	x, err := library().Index()
	if err != nil {
		t.Fatal(err)
	}
	running := campaign()
	running.Running, running.Every, running.Ended, running.AsOf = true, 10*time.Second, "", time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	out := map[string]string{}
	for name, x := range map[string]*index.Index{"campaign": campaign().Index(), "running": running.Index(), "library": x, "empty": (&index.Campaign{}).Index()} {
		var b, again bytes.Buffer
		if err := index.Write(&b, x); err != nil {
			t.Fatal(err)
		}
		if err := index.Write(&again, x); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: two pages of one index differ (%v)", name, err)
		}
		out[name] = b.String()
	}
	return out
}

// A page runs its own script and nothing else, and sends no request,
// whatever the texts in it are.
func TestPageIsSafe(t *testing.T) {
	for name, page := range pages(t) {
		if n := strings.Count(page, "<script"); n != 1 {
			t.Errorf("%s: %d scripts, want the page's own", name, n)
		}
		_, rest, _ := strings.Cut(page, "<script>")
		script, _, _ := strings.Cut(rest, "</script>")
		_, rest, _ = strings.Cut(page, "<style>")
		style, _, _ := strings.Cut(rest, "</style>")
		policy := html(regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)[1])
		if want := fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'", sum(style), sum(script)); policy != want {
			t.Errorf("%s: the policy is %s, want %s", name, policy, want)
		}
		for _, bad := range []string{"<img", "src=\"", "style=\"", "@import", "url(", "javascript:alert", "http://"} {
			if strings.Contains(strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, ""), bad) {
				t.Errorf("%s: the page has %s", name, bad)
			}
		}
		for _, link := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if !regexp.MustCompile(`^(https://github\.com/.*|[a-z0-9-]+(/[a-z0-9-]+)?\.(html|yaml)|#over-time|#ZgotmplZ)$`).MatchString(link[1]) {
				t.Errorf("%s: a link to %s", name, link[1])
			}
		}
		if strings.Contains(page, `http-equiv="refresh"`) != (name == "running") {
			t.Errorf("%s: it reads itself anew: %v", name, name != "running")
		}
	}
}

func html(s string) string {
	return strings.NewReplacer("&#39;", "'", "&#43;", "+", "&#34;", `"`).Replace(s)
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(h[:])
}

// What is in doubt is said before the figures; a campaign without a caught canary
// proves nothing; what the track record knows has its link.
func TestWhatPagesSay(t *testing.T) {
	all := pages(t)
	for _, tt := range []struct{ page, want string }{
		{"empty", "no mutant was detected"}, {"campaign", "in doubt: 2 more"}, {"campaign", "3,880"}, {"campaign", "4 (1 as recorded)"},
		{"campaign", "worlds without operator"}, {"campaign", "1,312 of 3,870"}, {"campaign", "401 of 3,870"},
		{"campaign", "1 run cut short by a limit"}, {"campaign", "Ended after 5m0s: time is up"}, {"running", "Running: 5m0s so far, as of 2026-11-21 14:00:00 UTC"},
		{"library", `href="https://github.com/k8snetworkplumbingwg/whereabouts/issues/162"`}, {"library", "closed by 0.5.1, back since 0.6.3"},
		{"library", "not as expected"}, {"library", "fails as expected"}, {"library", "Side by side"},
	} {
		if !strings.Contains(all[tt.page], tt.want) {
			t.Errorf("%s: %q is missing", tt.page, tt.want)
		}
	}
	if _, rest, _ := strings.Cut(all["campaign"], "<main>"); strings.Index(rest, "in doubt") > strings.Index(rest, "3,880") {
		t.Error("the doubt stands below the figures")
	}
}

// Of very many runs those that are news stay, and the page says what it leaves out.
func TestManyRuns(t *testing.T) {
	l := &index.Library{}
	for n := range 2500 {
		l.Add(index.Run{Scenario: "s", Seed: uint64(n), Verdict: reports.Pass, AsExpected: n != 2400})
	}
	x, err := l.Index()
	if err != nil {
		t.Fatal(err)
	}
	runs := x.Tables[len(x.Tables)-1]
	if len(runs.Rows)+runs.Left != 2500 || len(runs.Rows) != 1000 {
		t.Errorf("%d rows and %d left out of 2500", len(runs.Rows), runs.Left)
	}
	if last := runs.Rows[len(runs.Rows)-1]; last[6].Text != "2400" || last[2].Text != "not as expected" {
		t.Errorf("the run that is news is not there: %v", last)
	}
}
