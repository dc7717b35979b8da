package page

import (
	"regexp"

	"ipamsim/reports/trackrecord"
)

// piece is a part of a text: with an address it is a link.
type piece struct{ Text, URL string }

var links = regexp.MustCompile(`\[([^\]]+)\]\((https?://[^()\s]+)\)`)

// knownAs is what the track record says that a scenario of the library is known as
// elsewhere; nothing for other scenarios.
func knownAs(scenario string) []piece {
	rows, err := trackrecord.ByScenario()
	if err != nil {
		return nil // a test of the track record says so
	}
	row, ok := rows[scenario]
	if !ok {
		return nil
	}
	return pieces(row.KnownAs())
}

// pieces takes the links out of Markdown. Other marks stay as they are.
func pieces(text string) (out []piece) {
	at := 0
	for _, m := range links.FindAllStringSubmatchIndex(text, -1) {
		out = append(out, piece{Text: text[at:m[0]]}, piece{text[m[2]:m[3]], text[m[4]:m[5]]})
		at = m[1]
	}
	return append(out, piece{Text: text[at:]})
}
