package main

import (
	"bytes"
	"fmt"
	"html"
	"io/fs"
	slash "path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"ipamsim/reports/trackrecord"
)

// markdown renders documents as GitHub does. HTML in them is left out.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// site is the documents of a repository.
type site struct {
	repository fs.FS
	pages      []*page
	files      map[string]bool // other files that pages link to
}

// page is a document as HTML.
type page struct {
	source string // file of the repository
	path   string // file of the site
	title  string
	body   string
	parts  []part
}

// part is a heading and the text below it, for the search.
type part struct{ id, heading, text string }

// load reads the documents of contents, and those below reports/trackrecord/issues, which
// only the track record links to.
func (s *site) load() error {
	issues, err := fs.Glob(s.repository, "reports/trackrecord/issues/*.md")
	if err != nil {
		return err
	}
	var all []string
	for _, c := range contents {
		all = append(all, c.documents...)
	}
	all = append(all, issues...)
	for _, name := range all {
		if name == recordPath {
			continue
		}
		if err := s.add(name, all); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	components, err := trackrecord.All()
	if err != nil {
		return err
	}
	p, err := recordPage(components)
	s.pages = append(s.pages, p)
	return err
}

func (s *site) add(name string, all []string) error {
	source, err := fs.ReadFile(s.repository, name)
	if err != nil {
		return err
	}
	doc := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(&anchors{}))))
	if err := s.link(name, all, doc); err != nil {
		return err
	}
	p := &page{source: name, path: pathOf(name), parts: partsOf(doc, source)}
	if p.title = p.parts[0].heading; p.title == "" {
		p.title = name
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, doc); err != nil {
		return err
	}
	p.body = wide.ReplaceAllString(b.String(), `<div class="wide">$0</div>`)
	s.pages = append(s.pages, p)
	return nil
}

// wide matches a table, which scrolls by itself on a narrow window.
var wide = regexp.MustCompile(`(?s)<table>.*?</table>`)

// pathOf returns the file of the site for a document.
func pathOf(document string) string {
	if slash.Base(document) == "README.md" {
		return slash.Join(slash.Dir(document), "index.html")
	}
	return strings.ToLower(strings.TrimSuffix(document, ".md")) + ".html"
}

// link makes relative links of a document lead to pages of the site. A link to a document
// that is no page, or to a file that does not exist, is an error; other files are copied.
func (s *site) link(name string, all []string, doc ast.Node) error {
	return ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		switch n := n.(type) {
		case *ast.Link:
			n.Destination, err = s.target(name, all, string(n.Destination))
		case *ast.Image:
			n.Destination, err = s.target(name, all, string(n.Destination))
		}
		return ast.WalkContinue, err
	})
}

func (s *site) target(from string, all []string, link string) ([]byte, error) {
	if strings.HasPrefix(link, "#") || strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return []byte(link), nil
	}
	file, fragment, _ := strings.Cut(link, "#")
	file = slash.Join(slash.Dir(from), file)
	info, err := fs.Stat(s.repository, file)
	if err != nil {
		return nil, fmt.Errorf("link to %s: %w", link, err)
	}
	if readme := slash.Join(file, "README.md"); info.IsDir() && slices.Contains(all, readme) {
		file = readme
	}
	to := file
	switch {
	case slices.Contains(all, file):
		to = pathOf(file)
	case info.IsDir() && !strings.HasSuffix(file, ".md"):
		to = slash.Join(file, "index.html")
		err = s.addFolder(file)
	case slash.Ext(file) == ".md":
		return nil, fmt.Errorf("link to %s, which is not in contents.go", link)
	default:
		s.files[file] = true
	}
	if to = relative(pathOf(from), to); fragment != "" {
		to += "#" + fragment
	}
	return []byte(to), err
}

// addFolder adds a page that lists the files of a folder without a README.md.
func (s *site) addFolder(folder string) error {
	p := &page{source: folder, path: slash.Join(folder, "index.html"), title: folder}
	if slices.ContainsFunc(s.pages, func(other *page) bool { return other.path == p.path }) {
		return nil
	}
	entries, err := fs.ReadDir(s.repository, folder)
	var list strings.Builder
	for _, e := range entries {
		if !e.IsDir() {
			s.files[slash.Join(folder, e.Name())] = true
			fmt.Fprintf(&list, "<li><a href=%q>%s</a></li>\n", e.Name(), html.EscapeString(e.Name()))
		}
	}
	p.body = fmt.Sprintf("<h1>%s</h1>\n<ul>\n%s</ul>\n", html.EscapeString(folder), list.String())
	s.pages = append(s.pages, p)
	return err
}

// relative returns the link from a page to a file of the site.
func relative(from, to string) string {
	up := strings.Count(from, "/")
	return strings.Repeat("../", up) + to
}

// anchors gives headings the identifiers that GitHub gives them.
type anchors struct{ used []string }

var notAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

// Generate implements parser.IDs.
func (a *anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	id := strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(string(heading))), ""), " ", "-")
	n := 0
	for _, u := range a.used {
		if u == id {
			n++
		}
	}
	a.used = append(a.used, id)
	if n > 0 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return []byte(id)
}

// Put implements parser.IDs.
func (a *anchors) Put([]byte) {}

// partsOf cuts a document at its headings. The first part is the document's title.
func partsOf(doc ast.Node, source []byte) []part {
	parts := []part{{}}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, is := n.(*ast.Heading); is {
			id, _ := h.AttributeString("id")
			text, _ := id.([]byte)
			next := part{id: string(text), heading: plain(h, source)}
			if h.Level == 1 && parts[0].heading == "" {
				next.id = ""
				parts[0] = next
			} else {
				parts = append(parts, next)
			}
			continue
		}
		last := &parts[len(parts)-1]
		last.text = strings.TrimSpace(last.text + " " + plain(n, source))
	}
	return parts
}

// plain returns the text of a node, with single spaces.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				for i := range n.Lines().Len() {
					line := n.Lines().At(i)
					b.Write(line.Value(source))
				}
			}
		default:
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}
