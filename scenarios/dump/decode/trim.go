package decode

import (
	"bytes"
	"slices"
)

// dropped are the fields, two levels deep, that hold most of a dump and say
// nothing about addresses. They are left out line by line before anything is
// parsed: two thirds of what kubectl prints of a pod.
var dropped = map[string]bool{
	"metadata.managedFields": true,
	"spec.containers":        true, "spec.initContainers": true, "spec.ephemeralContainers": true, "spec.volumes": true,
	"spec.securityContext": true, "spec.topologySpreadConstraints": true,
	"status.containerStatuses": true, "status.initContainerStatuses": true, "status.ephemeralContainerStatuses": true,
	"status.images": true, "status.nodeInfo": true, "status.allocatable": true, "status.capacity": true,
}

// trimmer collects the lines of one object without what is dropped.
type trimmer struct {
	buf     []byte
	section string // the key of the first level that the line is under
	skip    bool
	manager bool // the name is that of a manager's own pod, whose images show its version
	whole   bool // nothing is left out
	// programs are parts of the names of managers' own pods.
	programs []string
	lines    int
	// gaps keep lines where they were: an error of the parser's counts them.
}

func (t *trimmer) size() int { return len(t.buf) }

func (t *trimmer) text() []byte { return t.buf }

// line adds a line of an object whose keys stand in column base. A line that is
// dropped leaves an empty one, so that line numbers stay true.
func (t *trimmer) line(line []byte, base int) {
	t.lines++
	text := bytes.TrimLeft(line, " ")
	spaces := len(line) - len(text)
	if len(text) > 0 && text[0] != '#' {
		switch {
		case spaces == base:
			t.section, t.skip = key(text), false
		case spaces == base+2 && text[0] != '-':
			if name, ok := bytes.CutPrefix(text, []byte("name: ")); ok && t.section == "metadata" {
				t.manager = slices.ContainsFunc(t.programs, func(p string) bool { return bytes.Contains(name, []byte(p)) })
			}
			path := t.section + "." + key(text)
			t.skip = !t.whole && t.section != "" && dropped[path] && !(t.manager && path == "spec.containers")
		}
	}
	if !t.skip {
		t.buf = append(t.buf, line...)
	}
	t.buf = append(t.buf, '\n')
}

// key is the name of a mapping's key that has nothing behind it on its line, or "".
func key(text []byte) string {
	text = bytes.TrimRight(text, " ")
	if k, ok := bytes.CutSuffix(text, []byte(":")); ok {
		return string(k)
	}
	return ""
}
