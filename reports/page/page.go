// Package page writes the HTML page of a run: one self-contained file that shows what happened and
// lets a reader go to any step and inspect the state.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"io/fs"
	"strings"

	"ipamsim/reports/prose"
	"ipamsim/reports/record"
	"ipamsim/reports/visible"
)

//go:embed page.html page.css js/*.js
var files embed.FS

var (
	style  = must(fs.ReadFile(files, "page.css"))
	script = program()
	page   = template.Must(template.New("page.html").Funcs(template.FuncMap{"clock": clock, "arrows": arrows, "subject": subject, "code": code, "marks": prose.Marks, "race": swapped}).ParseFS(files, "page.html"))
)

// parts are the files of js, in the order they need each other in.
var parts = strings.Fields("dom record words code film state address axis rows strip lanes table now truth grid routes reach tables list screens search playhead start")

// program is what runs in the page: all parts as one function.
func program() []byte {
	var b bytes.Buffer
	b.WriteString("(() => {\n'use strict';\n")
	for _, name := range parts {
		b.Write(must(fs.ReadFile(files, "js/"+name+".js")))
	}
	b.WriteString("})();\n")
	return b.Bytes()
}

// Write writes the page of a run as one self-contained HTML document with its style, script and
// record. A content security policy forbids requests. All data of the scenario and the run is
// escaped text with visible characters only (reports/visible).
//
// Without a script, and on paper, the page shows the violations and the steps that led to them.
// The bytes are a function of the record.
func Write(w io.Writer, rec *record.Record) error {
	if err := visible.Page(w, page.Lookup("head"), storyOf(rec)); err != nil {
		return err
	}
	if _, err := io.WriteString(w, `<script type="application/json" id="record">`); err != nil {
		return err
	}
	// The encoder writes <, > and & as escapes: nothing in the record can end the
	// element it stands in.
	text, err := json.Marshal(struct {
		*record.Record
		Sources [][]spot `json:"sources,omitempty"` // by site
	}{rec, sources(rec.Sites)})
	if err != nil {
		return err
	}
	if _, err := w.Write(visible.JSON(text)); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\n</script>"); err != nil {
		return err
	}
	return page.ExecuteTemplate(w, "tail", map[string]any{"Script": template.JS(script)})
}

// policy is what a browser lets the page do: use this style and this program.
func policy() string {
	return "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(script) + "; base-uri 'none'; form-action 'none'"
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// must is for what is compiled in: a failure is one of the build.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
