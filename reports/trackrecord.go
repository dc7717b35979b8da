package reports

import (
	_ "embed" // the track record itself
	"fmt"
	"strings"
)

//go:embed README.md
var trackRecord string

// Track is a row of the track record: a failure of an upstream version, what it is
// known as elsewhere, and the command that shows it. Its texts are Markdown.
type Track struct{ What, Upstream, Violated, Known, Command string }

// TrackRecord is every row of this directory's README.md, in order. It returns an
// error for a row that has another form.
func TrackRecord() ([]Track, error) {
	var out []Track
	for line := range strings.Lines(trackRecord) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| ") || !strings.Contains(line, "`ipamsim ") {
			continue
		}
		c := strings.Split(strings.Trim(line, "| "), " | ")
		if len(c) != 5 {
			return nil, fmt.Errorf("reports/README.md: a row of %d columns, want what, upstream, violated, known as, command: %s", len(c), line)
		}
		out = append(out, Track{c[0], c[1], c[2], c[3], strings.Trim(c[4], "`")})
	}
	return out, nil
}
