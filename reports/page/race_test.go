package page_test

import (
	"bytes"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/reports/page"
	"ipamsim/reports/record"
)

// The steps whose order decides are marked, and below them it says what happens in the
// other order; where it was not simulated, nothing of that is there. Whatever stands in a record
// from outside is text.
func TestRaces(t *testing.T) {
	rec := small("default/web-2")
	v := &rec.Violations[1]
	v.Races = []model.Race{{Invariant: hostile, Read: 2, Change: 5, Use: 7}}
	v.Turns[1].Races = []model.RaceMark{{Race: 0, Part: model.RaceChange}, {Race: -3, Part: model.RacePart(hostile)}}
	head := func(rec *record.Record) string {
		var b bytes.Buffer
		if err := page.Write(&b, rec); err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(b.String(), `id="record">`)
		return text
	}
	text := head(rec)
	for _, want := range []string{`5s · step 5 · <b class="race">A change</b>`, `<p class="races">A: if the read of step 2 comes after the change of step 5, there is no &lt;script&gt;`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "<script>alert") {
		t.Error("a name became a program")
	}
	if plain := head(small("default/web-2")); strings.Contains(plain, `class="race`) {
		t.Error("races that nobody tried")
	}
}
