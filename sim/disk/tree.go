package disk

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// tree is the content of a file system: its inodes by number.
type tree map[int]*inode

// root is the inode of "/".
const root = 1

type inode struct {
	mode     fs.FileMode
	data     []byte         // of a file
	entries  map[string]int // of a directory
	volatile bool           // in a tmpfs: not on the disk
	modified time.Duration
}

// kind is the kind of a change. All but write are in the journal.
type kind uint8

const (
	create kind = iota
	unlink
	rename
	truncate
	allocate // blocks for written data: see Disk.allocate
	write
)

// change is a change of a tree by a system call. The same change of equal trees gives equal
// trees.
type change struct {
	kind     kind
	at       time.Duration
	dir      int // create, unlink, rename: the directory of the name
	name     string
	toDir    int // rename
	to       string
	inode    int
	mode     fs.FileMode
	offset   int // of a write; the new size of a truncate
	data     []byte
	volatile bool
	sure     bool    // a power loss does not discard it
	before   *change // write: the change of the journal that waits for it; nil: none
}

// apply makes the change. If its inode is gone, it does nothing.
func (t tree) apply(c *change) {
	n := t[c.inode]
	switch c.kind {
	case create:
		n = &inode{mode: c.mode, volatile: c.volatile, modified: c.at}
		if c.mode.IsDir() {
			n.entries = map[string]int{}
		}
		t[c.inode] = n
		t.enter(c.dir, c.name, c.inode)
	case unlink:
		t.leave(c.dir, c.name)
	case rename:
		t.leave(c.toDir, c.to)
		t.enter(c.toDir, c.to, c.inode)
		if d := t[c.dir]; d != nil {
			delete(d.entries, c.name)
		}
	case truncate:
		if n != nil {
			n.resize(c.offset)
			n.modified = c.at
		}
	case write:
		if n != nil {
			n.resize(max(len(n.data), c.offset+len(c.data)))
			copy(n.data[c.offset:], c.data)
			n.modified = c.at
		}
	}
}

func (t tree) enter(dir int, name string, number int) {
	if d := t[dir]; d != nil {
		d.entries[name] = number
	}
}

// leave removes a name, and its inode: no inode has two names.
func (t tree) leave(dir int, name string) {
	d := t[dir]
	if d == nil {
		return
	}
	delete(t, d.entries[name])
	delete(d.entries, name)
}

func (n *inode) resize(size int) {
	if size <= len(n.data) {
		n.data = slices.Clone(n.data[:size])
		return
	}
	n.data = append(n.data, make([]byte, size-len(n.data))...)
}

// clone returns an independent copy of the tree.
func (t tree) clone() tree {
	out := make(tree, len(t))
	for number, n := range t {
		c := *n
		c.data, c.entries = bytes.Clone(n.data), maps.Clone(n.entries)
		out[number] = &c
	}
	return out
}

// place is the result of a path: a name in a directory, and its inode.
type place struct {
	dir    int // 0 for "/" itself
	name   string
	number int // 0: the name does not exist
}

// find follows a path. It returns ENOENT and ENOTDIR for components before the last name.
func (t tree) find(name string) (place, error) {
	at := place{number: root}
	for part := range strings.SplitSeq(strings.Trim(clean(name), "/"), "/") {
		if part == "" {
			continue
		}
		d := t[at.number]
		switch {
		case d == nil:
			return at, syscall.ENOENT
		case !d.mode.IsDir():
			return at, syscall.ENOTDIR
		}
		at = place{dir: at.number, name: part, number: d.entries[part]}
	}
	return at, nil
}

// clean returns the canonical form of a path. /var/run is a link to /run on every machine with
// systemd.
func clean(name string) string {
	name = path.Clean("/" + name)
	if rest, ok := strings.CutPrefix(name, "/var/run"); ok && (rest == "" || rest[0] == '/') {
		return "/run" + rest
	}
	return name
}
