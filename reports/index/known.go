package index

import (
	"regexp"
	"strings"

	"ipamsim/reports/trackrecord"
)

// knownAs is what the track record says of scenarios, by name.
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

// linked is a link as Markdown has it.
var linked = regexp.MustCompile(`\[([^\]]*)\]\((https://[^)\s]+)\)`)

// recorded is a cell of the track record, which is Markdown.
func recorded(text string) Cell {
	c := Cell{Text: strings.ReplaceAll(linked.ReplaceAllString(text, "$1"), "`", "")}
	if m := linked.FindStringSubmatch(text); m != nil {
		c.Link = m[2]
	}
	return c
}
