package linear_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"ipamsim/fuzz/linear"
	"ipamsim/model"
)

// hostile is a name with markup, for the page's script, title and tooltips.
const hostile = `</title></script><script>alert(1)</script><img src=x onerror=alert(2)>` + "\u2028" + `'"]]>{{`

// twice is a history in which two sandboxes ask at the same time and get the same address. Every text
// in it is hostile.
func twice() *model.History {
	h := &model.History{}
	for i, kind := range []model.EventKind{
		model.AddBegin, model.AddEnd, model.NodeEvent, model.Operator, model.FaultEvent, model.Reconcile, model.Reconciled,
	} {
		for _, id := range []string{"1", "2"} {
			h.Add(model.Event{
				At: time.Duration(i) * time.Second, Kind: kind, Actor: hostile, Node: hostile,
				Pod: model.PodRef{Namespace: hostile, Name: hostile}, Container: id + hostile, Network: hostile, Interface: hostile, Text: hostile,
				Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.1")},
			})
		}
	}
	return h
}

// The page loads nothing and runs only porcupine's script, whatever the names in a scenario.
func TestPageIsSafe(t *testing.T) {
	r := linear.Check(twice(), nil, linear.Patience)
	if r.Verdict != linear.NotLinearizable {
		t.Fatal(r.Verdict)
	}
	var b bytes.Buffer
	if err := r.Page(&b, hostile); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d scripts, want porcupine's", n)
	}
	_, rest, _ := strings.Cut(page, "<script>")
	script, _, _ := strings.Cut(rest, "</script>")
	hash := sha256.Sum256([]byte(script))
	if want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "';"; !strings.Contains(page, want) {
		t.Errorf("the policy does not say %s", want)
	}
	if _, body, _ := strings.Cut(page, "</title>"); strings.Contains(body, "<img") {
		t.Error("a name is markup")
	}
	for _, bad := range []string{"<img", "<script>", "\u2028"} {
		if strings.Contains(script, bad) {
			t.Errorf("the script contains %q", bad)
		}
	}
	// The script inserts states and metadata as HTML, so in the data they are escaped twice.
	if strings.Contains(script, `"Metadata":"10.0.0.1 of pod \u003c`) || !strings.Contains(script, `\u0026lt;img src=x`) {
		t.Error("metadata would become markup")
	}
	if strings.Contains(script, `"StateDescription":"held by \u003c`) {
		t.Error("states would become markup")
	}
	for _, u := range regexp.MustCompile(`(?i)https?://[^"' ]*|\bsrc=|\bhref=|@import|url\(`).FindAllString(strings.ReplaceAll(page, "src=x", ""), -1) {
		if u != "http://www.w3.org/2000/svg" { // a namespace, which is not loaded
			t.Errorf("the page refers to %s", u)
		}
	}
}
