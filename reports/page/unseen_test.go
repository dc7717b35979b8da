package page_test

import (
	"bytes"
	"strings"
	"testing"

	"ipamsim/reports/page"
)

// Whatever a pod is called, every character of its page can be seen: what a browser
// would hide, or let turn the text beside it, stands there as an escape, before the
// program runs and in what it draws.
func TestNothingUnseen(t *testing.T) {
	const unseen = "\u202egnp\u200b\ufeff\x1b\u009b\U000e0041"
	const seen = `\u202egnp\u200b\ufeff\x1b\u009b\ue0041`
	var b bytes.Buffer
	if err := page.Write(&b, small("default/"+unseen)); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, r := range unseen {
		if !strings.ContainsRune("gnp", r) && strings.ContainsRune(text, r) {
			t.Errorf("%U is on the page", r)
		}
	}
	before, record, _ := strings.Cut(text, `id="record">`)
	if !strings.Contains(before, "two pods on default/"+seen) || !strings.Contains(record, `"default/`+strings.ReplaceAll(seen, `\`, `\\`)+`"`) {
		t.Error("the name is not there as it is on a terminal")
	}
	if strings.Contains(record, `"`+`\u001b`) || strings.Contains(text, `\\u001b`) {
		t.Error("an escape of JSON is one that a browser undoes")
	}
}
