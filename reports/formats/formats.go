// Package formats writes the report of a run as files that programs and people keep: JSON,
// golden, metrics, trace.
package formats

import (
	"io"

	"ipamsim/reports"
	"ipamsim/reports/timeline"
)

// Format writes a report of one run.
type Format func(io.Writer, *reports.Report) error

// All are the formats by name.
func All() map[string]Format {
	return map[string]Format{
		"golden":   func(w io.Writer, r *reports.Report) error { return write(w, Golden(r)) },
		"json":     jsonLine,
		"line":     func(w io.Writer, r *reports.Report) error { return write(w, reports.Line(r)+"\n") },
		"metrics":  openMetrics,
		"timeline": gravest,
		"trace":    Trace,
	}
}

func write(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

func jsonLine(w io.Writer, r *reports.Report) error {
	b, err := JSON(r)
	if err != nil {
		return err
	}
	return write(w, string(b)+"\n")
}

// gravest writes the timeline of the violation that matters most, if there is
// one.
func gravest(w io.Writer, r *reports.Report) error {
	v := r.Gravest()
	if v == nil {
		return nil
	}
	return write(w, timeline.Of(r, v))
}
