package strict

import (
	"bytes"
	"errors"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// searchedMax is the size up to which the line of a syntax error is searched for.
const searchedMax = 256 << 10

// explain finds the line of a syntax error and renders the error.
//
// The parser reports where the surrounding block began, which can be a hundred lines earlier. The line
// of the error is the last one of the shortest prefix of the file that fails in the same way.
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
		return line, "not YAML: " + OneLine(errors.New(problem))
	}
	if indent := bytes.TrimLeft(lines[line-1], " "); bytes.HasPrefix(indent, []byte("\t")) {
		return line, "not YAML: a tab in the indentation, want spaces"
	}
	for _, h := range syntaxHints {
		if strings.Contains(problem, h.says) {
			return line, "not YAML: " + h.means
		}
	}
	return line, "not YAML: " + OneLine(errors.New(problem))
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

// The parser's messages about an unclosed quote, at the end of the file, and at another document.
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
