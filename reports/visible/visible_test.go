package visible

import (
	"encoding/json"
	"strings"
	"testing"
)

// evil has invisible characters: controls of both kinds, a bad byte, marks and overrides
// of direction, joiners, a byte order mark, a tag, fillers, a selector.
const evil = "a\x1b[2J\x07\u009b\xff\u200f\u202e\u2066\u200b\u2060\ufeff\U000e0041\u3164\u034f\ufe0f\u2028b"

const seen = `a\x1b[2J\x07\u009b\xff\u200f\u202e\u2066\u200b\u2060\ufeff\ue0041\u3164\u034f\ufe0f\u2028b`

func TestLine(t *testing.T) {
	if got := Line(evil); got != seen {
		t.Errorf("%s, want %s", got, seen)
	}
	if got := Line("1\n2\t3\u00a04"); got != `1\x0a2\x093\u00a04` {
		t.Error(got)
	}
	for _, s := range []string{"", "plain", "Grüße, 世界 → ✓ é e\u0301 😀"} {
		if Line(s) != s || Text(s) != s {
			t.Errorf("%q became %q", s, Line(s))
		}
	}
}

func TestText(t *testing.T) {
	if got := Text("1\n2\t3\u00a04" + evil); got != "1\n2\t3\u00a04"+seen {
		t.Error(got)
	}
}

// TestJSON: a reader gets the strings as Text makes them, and nothing else
// is another.
func TestJSON(t *testing.T) {
	in := map[string]any{evil: []string{evil, "1\n2\t3\r", `\u202e "quoted" \`, "<b>&", "😀", strings.Repeat("x", 100)}, "n": 1.5, "no": nil}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(JSON(b), &got); err != nil {
		t.Fatal(err)
	}
	bad := strings.Replace(seen, `\xff`, `\ufffd`, 1) // as encoding/json has it
	want := map[string]any{bad: []any{bad, "1\n2\t3" + `\x0d`, `\u202e "quoted" \`, "<b>&", "😀", strings.Repeat("x", 100)}, "n": 1.5, "no": nil}
	x, _ := json.Marshal(got)
	y, _ := json.Marshal(want)
	if string(x) != string(y) {
		t.Errorf("%s\nwant %s", x, y)
	}
	for _, s := range []string{``, `\`, `\u`, `\u12`, `\ud800`, `\ud800\u0041`, `"\ud83d\ude00"`} {
		JSON([]byte(s)) // it ends
	}
	if got := string(JSON([]byte(`"\ud83d\ude00\udb40\udc41"`))); got != `"\ud83d\ude00\\ue0041"` {
		t.Error(got)
	}
}
