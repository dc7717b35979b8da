package chart

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"ipamsim/reports/table"
)

// drawing is what a picture draws, as rows of values: nil where there is none.
type drawing struct {
	Kind    string   `json:"kind"` // of the picture, in lower case: chart, panels, …
	Title   string   `json:"title"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"` // string, float64, bool or nil, as many as columns
}

// CSV writes what the picture draws, under one line of column names. Numbers have at
// most twelve digits. A text that a spreadsheet would take for a formula has an
// apostrophe before it, as OWASP advises ("CSV Injection"); JSON has the text itself.
func CSV(w io.Writer, p Picture) error {
	t, err := tableOf(p)
	if err != nil {
		return err
	}
	out := table.New(t.Columns...)
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for n, v := range row {
			switch v := v.(type) {
			case nil:
			case float64:
				cells[n] = plain(v)
			default:
				cells[n] = fmt.Sprint(v)
			}
		}
		out.Add(cells...)
	}
	return out.CSV(w)
}

// JSON writes what the picture draws: {"kind", "title", "columns", "rows"}, with the
// columns and rows of CSV.
func JSON(w io.Writer, p Picture) error {
	t, err := tableOf(p)
	if err != nil {
		return err
	}
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

func tableOf(p Picture) (drawing, error) {
	if err := p.check(); err != nil {
		return drawing{}, fmt.Errorf("chart: %q: %w", shown(p.heading()), err)
	}
	t := p.table()
	t.Title = p.heading()
	for _, row := range t.Rows {
		for n, v := range row {
			if f, ok := v.(float64); ok {
				row[n] = rounded(f)
			}
		}
	}
	return t, nil
}

// rounded is 0.3 for 0.30000000000000004.
func rounded(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	return v
}

// plain has no exponent where people can read it without.
func plain(v float64) string {
	if s := strconv.FormatFloat(v, 'f', -1, 64); len(s) <= 20 {
		return s
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
