package index

import (
	"path"
	"regexp"
	"strings"

	"ipamsim/reports"
)

// knownAs is what the track record says of scenarios, by name.
func knownAs() (map[string]string, error) {
	rows, err := reports.TrackRecord()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, r := range rows {
		words := strings.Fields(r.Command)
		out[strings.TrimSuffix(path.Base(words[len(words)-1]), ".yaml")] = r.Known
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
