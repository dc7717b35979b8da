package chart

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// table is what a picture draws, as rows of values: nil where there is none.
type table struct {
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
	c := csv.NewWriter(w)
	cells := make([]string, len(t.Columns))
	for n, name := range t.Columns {
		cells[n] = harmless(name)
	}
	if err := c.Write(cells); err != nil {
		return err
	}
	for _, row := range t.Rows {
		for n, v := range row {
			switch v := v.(type) {
			case nil:
				cells[n] = ""
			case float64:
				cells[n] = plain(v)
			case string:
				cells[n] = harmless(v)
			default:
				cells[n] = fmt.Sprint(v)
			}
		}
		if err := c.Write(cells); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
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

func tableOf(p Picture) (table, error) {
	if err := p.check(); err != nil {
		return table{}, fmt.Errorf("chart: %q: %w", shown(p.heading()), err)
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

func harmless(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
