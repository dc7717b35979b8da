package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"strings"
)

//go:embed *.html site.css site.js
var assets embed.FS

var templates = template.Must(template.ParseFS(assets, "*.html"))

type menuLink struct{ Path, Title string }

type menuSection struct {
	Title string
	Links []menuLink
}

// menu lists the pages of contents, by their titles.
func (s *site) menu() (all []menuSection) {
	for _, c := range contents {
		m := menuSection{Title: c.title}
		for _, d := range c.documents {
			for _, p := range s.pages {
				if p.source == d {
					m.Links = append(m.Links, menuLink{p.path, p.title})
				}
			}
		}
		all = append(all, m)
	}
	return all
}

// html renders a page with the menu, the style and the script.
func (s *site) html(p *page) ([]byte, error) {
	style, _ := assets.ReadFile("site.css") // embedded
	script, _ := assets.ReadFile("site.js") // embedded
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, "page.html", map[string]any{
		"Title": p.title, "Path": p.path, "Root": strings.Repeat("../", strings.Count(p.path, "/")), "Menu": s.menu(),
		"Style": template.CSS(style), "Script": template.JS(script), "Body": template.HTML(p.body), // ours, and what goldmark escaped
	})
	return b.Bytes(), err
}

// index is the script with what the search looks through: page, title, heading and text of
// each part.
func (s *site) index() ([]byte, error) {
	type entry struct {
		URL     string `json:"u"`
		Title   string `json:"t"`
		Heading string `json:"h"`
		Text    string `json:"x"`
	}
	var all []entry
	for _, p := range s.pages {
		for _, part := range p.parts {
			url := p.path
			if part.id != "" {
				url += "#" + part.id
			}
			all = append(all, entry{url, p.title, part.heading, part.text})
		}
	}
	text, err := json.Marshal(all)
	return append(append([]byte("const parts="), text...), ";\n"...), err
}
