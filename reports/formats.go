package reports

import "io"

// Format writes a report of one run.
type Format func(io.Writer, *Report) error

// Formats are all of them, by name.
func Formats() map[string]Format {
	return map[string]Format{
		"golden":   func(w io.Writer, r *Report) error { return write(w, Golden(r)) },
		"json":     jsonLine,
		"line":     func(w io.Writer, r *Report) error { return write(w, Line(r)+"\n") },
		"metrics":  OpenMetrics,
		"timeline": gravest,
		"trace":    Trace,
	}
}

func write(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

func jsonLine(w io.Writer, r *Report) error {
	b, err := JSON(r)
	if err != nil {
		return err
	}
	return write(w, string(b)+"\n")
}

// gravest writes the timeline of the violation that matters most, if there is
// one.
func gravest(w io.Writer, r *Report) error {
	v := r.Gravest()
	if v == nil {
		return nil
	}
	return write(w, Timeline(r, v))
}
