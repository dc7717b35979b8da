package decode

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// HoldsPeek is how much of a file Holds wants to see.
const HoldsPeek = 64 << 10

var (
	// objects is a line of an object in YAML or JSON.
	objects = regexp.MustCompile(`(?m)^[ \t>]*(?:- |[0-9]{1,7}[\t:| ] ?)?["']?apiVersion["']?[ ]?:[ ]?|[{,]\s*"apiVersion"\s*:\s*"`)
	// pairs is what etcdctl get -w json prints.
	pairs = regexp.MustCompile(`"kvs"\s*:\s*\[`)
)

// Holds reports whether a file of a folder or an archive looks like output that is read,
// by its name and its beginning. Other files are logs, tables, programs: there are many in
// a support bundle, and they are no errors. marks are parts of what managers' tools print.
func Holds(name string, first []byte, marks []string) bool {
	first = bytes.TrimPrefix(first, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(first, []byte("\xff\xfe")) || bytes.HasPrefix(first, []byte("\xfe\xff")) {
		first = bytes.ReplaceAll(first[2:], []byte{0}, nil) // enough to see ASCII in UTF-16
	}
	if len(first) > HoldsPeek {
		first = first[:HoldsPeek]
	}
	if bytes.IndexByte(first, 0) >= 0 && !bytes.HasPrefix(first, []byte("/registry/")) {
		return false
	}
	marked := func(text []byte) bool {
		return slices.ContainsFunc(marks, func(m string) bool { return bytes.Contains(text, []byte(m)) })
	}
	if !objects.Match(first) && !pairs.Match(first) && !marked(first) {
		return false
	}
	if !isLog(name) {
		return true
	}
	// A log of a container may print objects, too; that of a terminal begins with a prompt
	// or with what is read.
	for line := range bytes.Lines(first) {
		text := bytes.TrimSpace(line)
		if len(text) == 0 {
			continue
		}
		_, typed := (&input{}).command(text)
		if bytes.HasPrefix(text, []byte(`{"`)) {
			return false // one object a line, as programs log
		}
		return typed || begins.Match(text) || beginsJSON(text) || tableLine(text) || marked(text)
	}
	return false
}

// isLog reports whether a file is a log, by its name: those of containers stand below
// logs/ in a must-gather, a cluster-info dump and support bundles.
func isLog(name string) bool {
	base := path.Base(name)
	return strings.Contains(base, ".log") || base == "logs.txt" || strings.Contains("/"+path.Dir(name)+"/", "/logs/")
}
