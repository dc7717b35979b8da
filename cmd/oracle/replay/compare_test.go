package replay

import (
	"strings"
	"testing"
)

const (
	podHere  = `{"kind":"Pod","metadata":{"name":"web-abcde","generateName":"web-","namespace":"default","uid":"u1","resourceVersion":"7","creationTimestamp":"2000-01-01T00:00:00Z"},"spec":{"nodeName":"n"}}`
	podThere = `{"kind":"Pod","metadata":{"name":"web-vwxyz","generateName":"web-","namespace":"default","uid":"x9","resourceVersion":"112","creationTimestamp":"2026-11-23T00:00:00Z","managedFields":[{"manager":"oracle"}]},"spec":{"nodeName":"n"}}`
)

// replayed compares one answer with another.
func replayed(t *testing.T, p *Replay, request, ours, theirs string) {
	t.Helper()
	m, err := parsed(Message{Method: "GET", URI: request, Status: 200, Answer: []byte(ours)})
	if err != nil {
		t.Fatal(err)
	}
	p.compare(1, m, 200, []byte(theirs))
}

func newReplay() *Replay {
	return &Replay{Recording: &Recording{Scenario: "s"}, terms: newTerms(), skipped: map[string]int{}, verbs: map[string]int{}, shared: map[string]bool{}}
}

// What the servers draw by themselves is no difference, and is asked for in the other
// one's terms from then on.
func TestTerms(t *testing.T) {
	p := newReplay()
	replayed(t, p, "/api/v1/namespaces/default/pods/web-abcde", podHere, podThere)
	if len(p.findings) > 0 {
		t.Fatal(p.findings)
	}
	replayed(t, p, "/api/v1/pods", `{"kind":"PodList","metadata":{"resourceVersion":"8"},"items":[`+podHere+`]}`,
		`{"kind":"PodList","metadata":{"resourceVersion":"115"},"items":[`+podThere+`,{"metadata":{"name":"own","managedFields":[{"manager":"kube-apiserver"}]}}]}`)
	if len(p.findings) > 0 {
		t.Fatal(p.findings)
	}
	for ours, want := range map[string]string{
		"/api/v1/namespaces/default/pods/web-abcde": "/api/v1/namespaces/default/pods/web-vwxyz",
		"/api/v1/pods?resourceVersion=8&watch=true": "/api/v1/pods?resourceVersion=115&watch=true",
		"/api/v1/pods?resourceVersion=0":            "/api/v1/pods?resourceVersion=0",
		"/api/v1/pods?resourceVersion=9&watch=true": "/api/v1/pods?resourceVersion=115&watch=true", // 9 is a deletion
	} {
		if got, err := p.terms.uri(ours); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", ours, got, err, want)
		}
	}
	for ours, want := range map[string]string{
		`{"metadata":{"resourceVersion":"7","uid":"u1"}}`:                    `{"metadata":{"resourceVersion":"112","uid":"x9"}}`,
		`[{"op":"test","path":"/metadata/resourceVersion","value":"7"}]`:     `[{"op":"test","path":"/metadata/resourceVersion","value":"112"}]`,
		`{"preconditions":{"resourceVersion":"7"},"spec":{"value":"7"}}`:     `{"preconditions":{"resourceVersion":"112"},"spec":{"value":"7"}}`,
		`{"metadata":{"ownerReferences":[{"name":"web-abcde","uid":"u1"}]}}`: `{"metadata":{"ownerReferences":[{"name":"web-vwxyz","uid":"x9"}]}}`,
	} {
		if got := string(p.terms.body([]byte(ours))); got != want {
			t.Errorf("%s is %s, want %s", ours, got, want)
		}
	}
}

// Each of these differs, and is reported.
func TestDiffers(t *testing.T) {
	for name, theirs := range map[string]string{
		"a field":      strings.Replace(podThere, `"nodeName":"n"`, `"nodeName":"m"`, 1),
		"a field more": strings.Replace(podThere, `"nodeName":"n"`, `"nodeName":"n","priority":0`, 1),
		"no object":    `{"kind":"Status","code":200}`,
		"no JSON":      `ok`,
		"deleted":      strings.Replace(podThere, `"uid"`, `"deletionTimestamp":"2026-11-23T00:00:00Z","uid"`, 1),
	} {
		p := newReplay()
		replayed(t, p, "/api/v1/namespaces/default/pods/web-abcde", podHere, theirs)
		if len(p.findings) != 1 {
			t.Errorf("%s: %d findings", name, len(p.findings))
		}
	}
	p := newReplay()
	m, err := parsed(Message{Method: "GET", URI: "/api/v1/nodes/a", Status: 200, Answer: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	if p.compare(1, m, 404, []byte(`{}`)); len(p.findings) != 1 {
		t.Errorf("another status: %d findings", len(p.findings))
	}
	p = newReplay()
	replayed(t, p, "/api/v1/pods", `{"kind":"PodList","items":[]}`, `{"kind":"PodList","items":[`+podThere+`]}`)
	if len(p.findings) != 1 {
		t.Errorf("a pod more: %d findings", len(p.findings))
	}
}

// A revision that stands for two, and revisions in another order, are reported.
func TestRevisions(t *testing.T) {
	p := newReplay()
	replayed(t, p, "/api/v1/namespaces/default/pods/web-abcde", podHere, podThere)
	replayed(t, p, "/api/v1/namespaces/default/pods/web-abcde", podHere, strings.Replace(podThere, `"112"`, `"113"`, 1))
	if len(p.findings) == 0 {
		t.Error("a write by only one of both is not reported")
	}
	terms := newTerms()
	terms.objects = map[string]string{"2": "20", "10": "30", "11": "25"}
	if terms.disorder() == "" {
		t.Error("another order is not reported")
	}
	if terms.objects["11"] = "31"; terms.disorder() != "" {
		t.Error(terms.disorder())
	}
}

// Every message that is not sent is skipped for a named reason.
func TestSkipped(t *testing.T) {
	for uri, want := range map[string]string{
		"POST /api/v1/namespaces {\"metadata\":{\"name\":\"mine\"}}": "",
		"DELETE /api/v1/namespaces/mine {}":                          "deletion of a namespace",
		"DELETE /api/v1/namespaces/mine/pods/a {}":                   "",
	} {
		f := strings.SplitN(uri, " ", 3)
		m, err := parsed(Message{Method: f[0], URI: f[1], Body: []byte(f[2])})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if d := skipped(m, false); d != nil {
			got = d.name
		}
		if got != want {
			t.Errorf("%s: %q, want %q", uri, got, want)
		}
	}
}

// Every known difference has a reason.
func TestDifferences(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range differences {
		if d.name == "" || d.why == "" || seen[d.name] {
			t.Errorf("%+v", d)
		}
		seen[d.name] = true
	}
}
