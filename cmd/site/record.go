package main

import (
	"bytes"
	"html/template"
	"slices"

	"ipamsim/reports/trackrecord"
)

// recordPath is the page of the track record with filters.
const recordPath = "record.html"

// row is a failure of the track record as its page shows it.
type row struct {
	Component string
	Violated  []string
	Fixed     string // one of fixStates
	Known     bool
	Command   string
	Text      string // What, for the search

	What, Parties, First, FixedIn, KnownAs, Premise, Likelihood template.HTML
}

// fixStates are the values of the filter "fixed upstream".
var fixStates = []string{"yes", "in part", "no", "by design", "not determined"}

func fixState(f trackrecord.Fix) string {
	switch {
	case f.Release != "" && f.Part != "":
		return "in part"
	case f.Release != "":
		return "yes"
	case f.Open != nil:
		return "no"
	case f.Design != "":
		return "by design"
	}
	return "not determined"
}

// recordOf returns the rows of all components, in the order of the tables.
func recordOf(all []trackrecord.Component) (rows []row, err error) {
	cell := func(markdown string) (html template.HTML) {
		if err == nil {
			html, err = inline(markdown)
		}
		return html
	}
	for _, c := range all {
		for _, r := range c.Rows {
			rows = append(rows, row{
				Component: c.Name, Violated: r.Violated, Fixed: fixState(r.Fixed), Known: r.Known != "", Command: r.Command(), Text: r.What,
				What: cell(r.What), Parties: cell(c.Parties(r)), First: cell(r.First), FixedIn: cell(r.FixedIn()), KnownAs: cell(r.KnownAs()),
				Premise: cell(r.Premise), Likelihood: cell(r.Likelihood),
			})
		}
	}
	return rows, err
}

// inline renders a line of Markdown without a paragraph around it.
func inline(text string) (template.HTML, error) {
	var b bytes.Buffer
	if err := markdown.Convert([]byte(text), &b); err != nil {
		return "", err
	}
	html := bytes.TrimSuffix(bytes.TrimPrefix(bytes.TrimSpace(b.Bytes()), []byte("<p>")), []byte("</p>"))
	return template.HTML(html), nil // goldmark escapes what is no Markdown
}

// recordPage is the page of all rows, with filters.
func recordPage(all []trackrecord.Component) (*page, error) {
	rows, err := recordOf(all)
	if err != nil {
		return nil, err
	}
	p := &page{source: recordPath, path: recordPath, title: "Track record with filters"}
	var components, violated []string
	for _, r := range rows {
		components = append(components, r.Component)
		violated = append(violated, r.Violated...)
		p.parts = append(p.parts, part{heading: r.Command, text: r.Text})
	}
	slices.Sort(violated)
	var b bytes.Buffer
	err = templates.ExecuteTemplate(&b, "record.html", map[string]any{
		"Title": p.title, "Rows": rows, "Components": slices.Compact(components), "Violated": slices.Compact(violated), "Fixed": fixStates,
	})
	p.body = b.String()
	return p, err
}
