package baseline

import (
	"fmt"
	"io"
	"strings"

	"ipamsim/reports"
)

// annotationsMax is the number of annotations of each kind that GitHub shows for one step. It
// silently drops the others.
//
// Source: GitHub's limits, github.com/orgs/community/discussions/26680.
const annotationsMax = 10

// Annotations writes an outcome as GitHub workflow commands, one a line: an error
// at the scenario's line for each regression, a notice for other changes. If there are more
// than GitHub shows, the last one of its kind counts the rest.
//
// GitHub reads them from a step's standard output only.
func Annotations(w io.Writer, o *Outcome) error {
	var kinds = []struct {
		command    string
		regression bool
	}{{"error", true}, {"notice", false}}
	for _, k := range kinds {
		var lines []string
		for i := range o.Rows {
			for j := range o.Rows[i].Changes {
				if c := &o.Rows[i].Changes[j]; c.Regression == k.regression {
					lines = append(lines, annotation(k.command, &o.Rows[i], c))
				}
			}
		}
		if n := len(lines) - annotationsMax; n > 0 {
			more := fmt.Sprintf("::%s title=ipamsim gate::and %d more, in the job's summary and the reports", k.command, n+1)
			lines = append(lines[:annotationsMax-1], more)
		}
		for _, l := range lines {
			if _, err := io.WriteString(w, l+"\n"); err != nil {
				return err
			}
		}
	}
	return nil
}

func annotation(command string, r *Row, c *Change) string {
	file, line := r.placeOf(c)
	message := reports.Clean(c.Sentence)
	if m := c.moved(); m != "" {
		message = strings.TrimPrefix(message+"\n"+m, "\n")
	}
	if c.Command != "" {
		message += "\nreproduce: " + reports.Clean(c.Command)
	}
	if message == "" {
		message = c.Words()
	}
	title := reports.Clean(r.Scenario) + ": " + c.Words()
	at := ""
	if file != "" {
		at = fmt.Sprintf("file=%s,line=%d,", property(reports.Clean(file)), line)
	}
	return fmt.Sprintf("::%s %stitle=%s::%s", command, at, property(title), data(message))
}

// data and property escape values of commands as GitHub's toolkit does:
// actions/toolkit, packages/core/src/command.ts.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
