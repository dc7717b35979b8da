package kube

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	doc := []byte(`{"items":[{"metadata":{"resourceVersion":"9"}}], "n":-1.5e3,"t":true, "e":{},
		"metadata":{"annotations":{"resourceVersion":"8","q":"\"}{"},"name":"a\"b\u00e9","resourceVersion" : "7"}}`)
	for path, want := range map[string]string{
		"metadata.resourceVersion": "7", "metadata.name": "a\"bé", "metadata.annotations.q": `"}{`,
		"metadata": "", "n": "", "t": "", "e.x": "", "nothing": "", "metadata.nothing": "",
	} {
		if got := text(doc, strings.Split(path, ".")...); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if got := text([]byte(`"alone"`)); got != "alone" {
		t.Errorf("have %q", got)
	}
}

// On truncated or modified documents text returns without a panic, and on complete documents it
// agrees with a decoder.
func TestTextSurvivesAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "members")
		doc, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		for k := range m {
			var back map[string]string
			if err := json.Unmarshal(doc, &back); err != nil {
				t.Fatal(err)
			}
			if plain(k) && plain(back[k]) && text(doc, k) != back[k] {
				t.Fatalf("%s: %q is %q, want %q", doc, k, text(doc, k), back[k])
			}
		}
		cut := rapid.IntRange(0, len(doc)).Draw(t, "cut")
		text(doc[:cut], "a", "b")
		text(doc[cut:], "a", "b")
	})
}

// plain leaves out what JSON and Go escape in different ways.
func plain(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&/`, r) }) < 0
}
