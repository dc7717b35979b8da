package sim_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// The language of comments, names, messages and documents is that of Kubernetes and Go.
// These expressions belong to a private idiom; each entry names what to write.
var idioms = []struct {
	pattern *regexp.Regexp
	write   string
}{
	{idiom(`told|tells?|telling`), "report, print, record, distinguish"},
	{idiom(`mend(s|ed|ing)?`), "fix"},
	{idiom(`deeds?`), "action, trigger"},
	{idiom(`act(s|ed|ing)? out`), "simulate"},
	{idiom(`made small`), "shrunk"},
	{idiom(`(a|its|the|first|whose|same|of) looks?`), "signature, sample, or a verb"},
	{idiom(`life|lives`), "incarnation, trial, lifetime"},
	{idiom(`tapes?`), "workload trace"},
	{idiom(`theatres?|casts?|furniture|desks?|crews?|whims?`), "simulator, facts, defaults, session, pool"},
	{idiom(`doors?`), "adapter, port, or the name of what it replaces"},
	{idiom(`anew`), "again"},
	{idiom(`for ever`), "forever"},
	{idiom(`besides`), "also"},
	{idiom(`meanwhile`), "in the meantime"},
	{idiom(`at once`), "immediately, at the same time"},
	{idiom(`of which`), "the name of the thing"},
	{idiom(`in vain|comes? to nothing|came to nothing`), "without effect"},
	{idiom(`how many-th`), "index"},
	{idiom(`nobody('s)?|whoever|somebody('s)?`), "the subject: the reconciler, the scheduler"},
}

func idiom(words string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b(?:` + words + `)\b`) }

// idiomWords are words that a name may not contain; idiomNames may be part of a name
// (lookAt is a verb), but not all of it.
var (
	idiomWords = strings.Fields("told tell tells mend mended deed deeds theatre cast furniture desk crew whim tape anew nobody somebody whoever lives life door doors")
	idiomNames = strings.Fields("look looks")
)

// commentIdiomsMax is the bound per 1,000 lines of comments; names, messages and documents
// have none at all.
const commentIdiomsMax = 5

// language counts what the rule finds in a room.
type language struct {
	lines    int // of comments
	comments []string
	rest     []string // names, strings with a space, documents, scenarios
}

// idiomsLeft is how many idioms a room may still have, in comments and elsewhere. The
// numbers only fall; a room at its bounds is not listed.
var idiomsLeft = map[string]struct{ comments, rest int }{
	".":       {0, 6}, // old names in CHANGELOG.md
	"reports": {2, 5},
}

// TestTidyLanguage reads comments, declared names, string literals that contain a space,
// Markdown documents, scenarios, scripts, and templates. -v lists what it finds.
func TestTidyLanguage(t *testing.T) {
	for room, l := range languageOf(t) {
		left, listed := idiomsLeft[room]
		if !listed {
			left.comments = l.lines * commentIdiomsMax / 1000
		}
		t.Logf("%s: %d comment lines, %d idioms in comments (%d per 1,000), %d elsewhere", room, l.lines, len(l.comments), len(l.comments)*1000/max(l.lines, 1), len(l.rest))
		if testing.Verbose() {
			t.Log("\n" + strings.Join(slices.Concat(l.comments, l.rest), "\n"))
		}
		switch {
		case len(l.comments) > left.comments || len(l.rest) > left.rest:
			t.Errorf("%s: language: %d idioms in comments (at most %d), %d elsewhere (at most %d); -v lists them:\n%s", room, len(l.comments), left.comments, len(l.rest), left.rest,
				strings.Join(first(10, slices.Concat(l.rest, l.comments)), "\n"))
		}
	}
}

func first(n int, lines []string) []string { return lines[:min(n, len(lines))] }

func languageOf(t *testing.T) map[string]*language {
	t.Helper()
	module, rooms := root(t), map[string]*language{}
	err := fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "bin" || d.Name() == "testdata" || d.Name() == "upstream" || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || path.Base(name) == "tidy_language_test.go" || !slices.Contains([]string{".go", ".md", ".yaml", ".js", ".html", ".css", ".tmpl", ".sh", ".yml"}, path.Ext(name)) && !strings.Contains(name, "/skeleton/"):
			return nil
		}
		room, _, inside := strings.Cut(name, "/")
		if !inside {
			room = "."
		}
		if rooms[room] == nil {
			rooms[room] = &language{}
		}
		text, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		if path.Ext(name) != ".go" {
			rooms[room].document(name, string(text))
			return nil
		}
		return rooms[room].source(name, text)
	})
	if err != nil {
		t.Fatal(err)
	}
	return rooms
}

func (l *language) document(name, text string) {
	for i, line := range strings.Split(text, "\n") {
		l.rest = append(l.rest, idiomsIn(fmt.Sprintf("%s:%d", name, i+1), line)...)
	}
}

func (l *language) source(name string, text []byte) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	at := func(p token.Pos) string { return fmt.Sprintf("%s:%d", name, set.Position(p).Line) }
	for _, group := range file.Comments {
		for _, c := range group.List {
			l.lines += 1 + strings.Count(c.Text, "\n")
			l.comments = append(l.comments, idiomsIn(at(c.Pos()), c.Text)...)
		}
	}
	for id := range declared(file) {
		if slices.Contains(idiomNames, strings.ToLower(id.Name)) || slices.ContainsFunc(words(id.Name), func(w string) bool { return slices.Contains(idiomWords, w) }) {
			l.rest = append(l.rest, at(id.Pos())+": name "+id.Name)
		}
	}
	if strings.HasSuffix(name, "_test.go") {
		return nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && strings.Contains(lit.Value, " ") {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				l.rest = append(l.rest, idiomsIn(at(lit.Pos()), s)...)
			}
		}
		return true
	})
	return nil
}

// anyIdiom matches what one of the patterns of idioms matches: most texts have none.
var anyIdiom = func() *regexp.Regexp {
	var all []string
	for _, i := range idioms {
		all = append(all, i.pattern.String())
	}
	return regexp.MustCompile(strings.Join(all, "|"))
}()

func idiomsIn(at, text string) (found []string) {
	if !anyIdiom.MatchString(text) {
		return nil
	}
	for _, i := range idioms {
		for _, m := range i.pattern.FindAllStringIndex(text, -1) {
			if inName(text, m[0], m[1]) {
				continue
			}
			around := strings.Join(strings.Fields(text[max(0, m[0]-40):min(len(text), m[1]+40)]), " ")
			found = append(found, fmt.Sprintf("%s: %q (write: %s): …%s…", at, text[m[0]:m[1]], i.write, around))
		}
	}
	return found
}

// inName reports whether a word is part of a name with hyphens, for instance of a scenario, or
// the name of an object in a manifest: names do not change with the language.
func inName(text string, from, to int) bool {
	return strings.HasSuffix(text[:from], "-") || strings.HasPrefix(text[to:], "-") || strings.HasSuffix(text[:from], "name: ")
}

// declared returns the identifiers that a file declares: packages, functions, types,
// variables, fields, parameters.
func declared(file *ast.File) map[*ast.Ident]bool {
	ids := map[*ast.Ident]bool{}
	add := func(list ...*ast.Ident) {
		for _, id := range list {
			ids[id] = true
		}
	}
	add(file.Name)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Name)
		case *ast.TypeSpec:
			add(n.Name)
		case *ast.ValueSpec:
			add(n.Names...)
		case *ast.Field:
			add(n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					if id, ok := e.(*ast.Ident); ok {
						add(id)
					}
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					add(id)
				}
			}
		}
		return true
	})
	return ids
}

// words splits a Go name at its capitals, in lower case: startOfLife is start, of, life.
func words(name string) (parts []string) {
	from := 0
	for i, r := range name {
		if i > from && unicode.IsUpper(r) {
			parts, from = append(parts, name[from:i]), i
		}
	}
	parts = append(parts, name[from:])
	for i, p := range parts {
		parts[i] = strings.ToLower(p)
	}
	return parts
}

// TestIdioms shows what the rule finds, and a near miss of each kind.
func TestIdioms(t *testing.T) {
	var l language
	if err := l.source("a.go", []byte("package a\n\n// F is told of x. Foretold is one word.\nfunc tellAll(lookup, look int) { print(\"nobody knows\", \"nobody\") }\n")); err != nil {
		t.Fatal(err)
	}
	l.document("a.md", "in vain\nvaine\nw6-alert-nobody-had\n")
	if len(l.comments) != 1 || len(l.rest) != 4 || l.lines != 1 {
		t.Errorf("found %q in %d lines of comments and %q elsewhere", l.comments, l.lines, l.rest)
	}
}
