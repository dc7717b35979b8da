package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// What a file may cost. A YAML node takes 160 bytes or more, so that 8 MiB of
// "[0,0,0,…" would take a gigabyte; and aliases of aliases grow without bound.
const (
	valuesMax   = 1_000_000 // scalars, lists and mappings as written
	expandedMax = 64 << 20  // bytes of all values with every alias expanded
	depthMax    = 100       // the API server's own types reach 20
)

// documents reads the YAML documents of a file, which should have one of a kind. Afterwards no alias and no merge
// key is left in them; what an alias stood for is shared, not copied.
func documents(file string, data []byte, kind string) ([]*yaml.Node, error) {
	refuse := func(line int, format string, args ...any) ([]*yaml.Node, error) {
		return nil, &Error{File: file, Line: line, Problem: fmt.Sprintf(format, args...)}
	}
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return refuse(0, "empty, want a %s document and Kubernetes manifests", kind)
	case len(data) > fileMax:
		return nil, tooLarge(file, data, kind)
	case bytes.IndexByte(data, 0) >= 0:
		return refuse(0, "binary, want YAML text")
	case tabular(data):
		return refuse(0, "%s", advice[[2]string{dumpKind, kind}])
	case values(data) > valuesMax:
		return refuse(0, "more than %d values, too many for a %s", valuesMax, strings.ToLower(kind))
	}
	if i := invalidUTF8(data); i >= 0 {
		return refuse(lineOf(data, i), "byte %#02x is not UTF-8 text", data[i])
	}
	data = []byte(spaced(string(data)))
	roots, err := parseYAML(data)
	if err != nil {
		line, problem := explain(data, err)
		return refuse(line, "%s", problem)
	}
	if len(roots) == 0 {
		return refuse(0, "only comments, want a %s document and Kubernetes manifests", kind)
	}
	x := expander{file: file, sizes: map[*yaml.Node]size{}}
	total := 0
	for _, r := range roots {
		s, err := x.expand(r, 0)
		if err != nil {
			return nil, err
		}
		if total += s.bytes; total > expandedMax {
			return nil, x.bomb(r)
		}
	}
	return roots, nil
}

// spaced makes plain spaces of no-break spaces. Web pages indent what people copy
// from them with those; the vendor's article in seeds/002 does.
func spaced(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

// values is an upper bound of the number of YAML nodes: every node but the first
// stands behind one of these bytes.
func values(data []byte) int {
	n := 1
	for _, b := range data {
		switch b {
		case ',', ':', '[', '{', '\n', '\r', '?':
			n++
		case '-':
			n++ // counted also inside words; "- - - -" has a node for each
		}
	}
	return n
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func lineOf(data []byte, offset int) int { return 1 + bytes.Count(data[:offset], []byte("\n")) }

// parseYAML returns the root of every document that holds something.
func parseYAML(data []byte) (roots []*yaml.Node, err error) {
	defer func() {
		if v := recover(); v != nil { // the parser's own recover lets some panics through
			err = fmt.Errorf("yaml: %v", v)
		}
	}()
	for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var n yaml.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return roots, nil
		} else if err != nil {
			return nil, err
		}
		if n.Kind == yaml.DocumentNode && len(n.Content) == 1 && n.Content[0].Tag != "!!null" {
			roots = append(roots, n.Content[0])
		}
	}
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// searchedMax is the size up to which the line of a syntax error is searched for.
const searchedMax = 256 << 10

// explain finds the line of a syntax error and words it for people.
//
// The parser tells where the surrounding block began, which can be a hundred
// lines earlier. The line people look for is the last one of the shortest
// beginning of the file that fails in the same way.
func explain(data []byte, err error) (line int, problem string) {
	msg := err.Error()
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		line, _ = strconv.Atoi(m[1])
	}
	problem = plain(msg)
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(data) <= searchedMax {
		line = shortest(lines, problem)
		if problem == insideQuote { // the quote was opened further up
			problem = unclosed
			line = shortest(lines[:line-1], problem)
		}
	}
	if line < 1 || line > len(lines) {
		return line, "not YAML: " + oneLine(errors.New(problem))
	}
	if indent := bytes.TrimLeft(lines[line-1], " "); bytes.HasPrefix(indent, []byte("\t")) {
		return line, "not YAML: a tab in the indentation, want spaces"
	}
	for _, h := range syntaxHints {
		if strings.Contains(problem, h.says) {
			return line, "not YAML: " + h.means
		}
	}
	return line, "not YAML: " + oneLine(errors.New(problem))
}

// plain is the parser's message without the line that it names.
func plain(msg string) string {
	return strings.TrimPrefix(yamlLine.ReplaceAllString(msg, ""), "yaml: ")
}

// shortest is the number of lines with which the problem begins.
func shortest(lines [][]byte, problem string) int {
	return 1 + sort.Search(len(lines)-1, func(i int) bool {
		_, err := parseYAML(bytes.Join(lines[:i+1], nil))
		return err != nil && plain(err.Error()) == problem
	})
}

// What the parser says of a quote that is never closed, if the file ends, and if
// another document begins before it is.
const (
	unclosed    = "found unexpected end of stream"
	insideQuote = "found unexpected document indicator"
)

var syntaxHints = []struct{ says, means string }{
	{"mapping values are not allowed", `a second ": " in one value, or wrong indentation; text that contains ": " needs quotes`},
	{"did not find expected key", "wrong indentation, or text behind a closing quote"},
	{"did not find expected '-' indicator", `wrong indentation, or a line without "- " in a list`},
	{"could not find expected ':'", `a line without "key: value", or wrong indentation`},
	{unclosed, "a quote is opened here and never closed"},
	{"found character that cannot start any token", "a value may not start with this character; put it in quotes"},
	{"did not find expected ',' or", "a bracket is opened and never closed, or a comma is missing"},
	{"control characters are not allowed", "a control character"},
	{"unknown anchor", "an alias (*name) without its anchor (&name); text that starts with * needs quotes"},
}

// size is what a value amounts to with every alias expanded.
type size struct{ bytes, depth int }

// expander replaces aliases by what they stand for, and merge keys by the keys
// they bring.
type expander struct {
	file  string
	sizes map[*yaml.Node]size // of nodes that have an anchor; zero while inside
}

func (x *expander) fail(n *yaml.Node, problem string) *Error {
	return &Error{File: x.file, Line: n.Line, Column: n.Column, Problem: problem}
}

func (x *expander) bomb(n *yaml.Node) *Error {
	return x.fail(n, "aliases expand to more than 64 MiB")
}

func (x *expander) expand(n *yaml.Node, depth int) (size, error) {
	if depth > depthMax {
		return size{}, x.fail(n, fmt.Sprintf("nested more than %d levels deep", depthMax))
	}
	if n.Anchor != "" {
		if s, seen := x.sizes[n]; seen {
			if s.bytes == 0 {
				return s, x.fail(n, fmt.Sprintf("anchor %s contains itself", quote(n.Anchor)))
			}
			return s, nil
		}
		x.sizes[n] = size{}
	}
	s := size{bytes: 16 + len(n.Value)}
	for i, c := range n.Content {
		switch {
		case c.Kind == yaml.AliasNode:
			c = c.Alias
			n.Content[i] = c
		case n.Kind == yaml.MappingNode && i%2 == 1 && c.Kind != yaml.ScalarNode:
			// People look for "spec:", not for the first line below it.
			c.Line, c.Column = n.Content[i-1].Line, n.Content[i-1].Column
		}
		inner, err := x.expand(c, depth+1)
		if err != nil {
			return s, err
		}
		s = size{s.bytes + inner.bytes, max(s.depth, inner.depth+1)}
		// Values that are shared are walked once here and often later.
		if depth+s.depth > depthMax {
			return s, x.fail(n, fmt.Sprintf("nested more than %d levels deep", depthMax))
		}
		if s.bytes > expandedMax {
			return s, x.bomb(n)
		}
	}
	if err := x.merge(n); err != nil {
		return s, err
	}
	if n.Anchor != "" {
		x.sizes[n] = s
	}
	return s, nil
}

// merge brings in the keys of "<<: *other". A mapping's own keys win, then those
// of the first that is merged. A merge never holds more than its source, which
// is counted already.
func (x *expander) merge(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	var own, from []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Tag != "!!merge":
			own = append(own, k, v)
		case v.Kind == yaml.SequenceNode:
			from = append(from, v.Content...)
		default:
			from = append(from, v)
		}
	}
	if len(own) == len(n.Content) {
		return nil
	}
	have := map[string]bool{}
	for i := 0; i < len(own); i += 2 {
		have[own[i].Value] = true
	}
	for _, m := range from {
		if m.Kind != yaml.MappingNode {
			return x.fail(m, `only a mapping can be merged with "<<"`)
		}
		for i := 0; i+1 < len(m.Content); i += 2 {
			if k := m.Content[i]; !have[k.Value] {
				have[k.Value] = true
				own = append(own, k, m.Content[i+1])
			}
		}
	}
	n.Content = own
	return nil
}
