package index

import (
	"regexp"
	"strings"

	"ipamsim/reports/trackrecord"
)

// knownAs returns the column "known as" of the track record by scenario.
func knownAs() (map[string]string, error) {
	rows, err := trackrecord.ByScenario()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, r := range rows {
		out[name] = r.KnownAs()
	}
	return out, nil
}

// linked matches a Markdown link.
var linked = regexp.MustCompile(`\[([^\]]*)\]\((https://[^)\s]+)\)`)

// recorded converts a Markdown cell of the track record.
func recorded(text string) Cell {
	c := Cell{Text: strings.ReplaceAll(linked.ReplaceAllString(text, "$1"), "`", "")}
	if m := linked.FindStringSubmatch(text); m != nil {
		c.Link = m[2]
	}
	return c
}
