package index

import (
	"fmt"
	"html/template"
	"strings"

	"ipamsim/reports/chart"
)

// HTML is the table as a part of another page, which has Style and ends with Script.
func (t *Table) HTML() (template.HTML, error) {
	rows, err := t.cells()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := page.ExecuteTemplate(&b, "table", table{Table: t, Rows: rows}); err != nil {
		return "", fmt.Errorf("index: %w", err)
	}
	return template.HTML(b.String()), nil
}

// Style is how all of it looks, charts included.
func Style() string { return css + chart.CSS() }

// Script searches, filters and sorts the tables of a page, and copies commands.
func Script() string { return script }

// Policy is the content security policy of a page that has this style and this
// script, and nothing else.
func Policy(style, script string) string {
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'", hash(style), hash(script))
}
