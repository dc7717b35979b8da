package disk

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"ipamsim/model/act"
	"ipamsim/sim"
)

// Process is one process's view of the disk. Its methods are named and behave as those of
// package os; each system call is a message at the process's gate.
type Process struct {
	disk *Disk
	ctx  context.Context
	gate *sim.Gate
	// inspects: faults of the disk do not apply.
	inspects bool
}

// Process returns the view of a process whose context ends with it. Without a gate it sends no
// messages: for the simulator, and for files whose order no schedule distinguishes.
func (d *Disk) Process(ctx context.Context, g *sim.Gate) *Process {
	return &Process{disk: d, ctx: ctx, gate: g}
}

// Inspect returns the view of an oracle, which works also for a failing disk.
func (d *Disk) Inspect() *Process {
	return &Process{disk: d, ctx: context.Background(), inspects: true}
}

// volatile reports whether a path leads into a tmpfs, which has no faults.
func (d *Disk) volatile(name string) bool {
	name = clean(name)
	return slices.ContainsFunc(tmpfs, func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") })
}

func wrap(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// OpenFile opens a file or a directory. Flags are those of package os; O_RDONLY, O_WRONLY and
// O_RDWR are not enforced. With O_CREATE and O_EXCL this process creates the file or gets
// fs.ErrExist.
func (p *Process) OpenFile(name string, flag int, mode fs.FileMode) (*File, error) {
	x, n := Access{Verb: act.Stat, Path: clean(name)}, reading
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_TRUNC) != 0 {
		n = changing
	}
	if flag&os.O_CREATE != 0 && !p.there(name) {
		n = inodes
	}
	if flag&os.O_CREATE != 0 {
		x.Verb = act.Create
	}
	f := &File{process: p, named: named{name}, appends: flag&os.O_APPEND != 0}
	err := p.pass(x, n, p.disk.volatile(name), func(x *Access) error { return p.disk.open(f, x, flag, mode) })
	if err != nil {
		return nil, wrap("open", name, err)
	}
	return f, nil
}

// there reports whether a name exists.
func (p *Process) there(name string) bool {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	at, err := p.disk.live.find(name)
	return err == nil && at.number != 0
}

func (d *Disk) open(f *File, x *Access, flag int, mode fs.FileMode) error {
	at, err := d.live.find(f.name)
	n := d.live[at.number]
	switch {
	case err != nil:
		return err
	case n == nil && flag&os.O_CREATE == 0:
		return syscall.ENOENT
	case n != nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return syscall.EEXIST
	case n != nil && n.mode.IsDir() && flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE) != 0:
		return syscall.EISDIR
	case n == nil:
		f.number = d.make(at, mode.Perm())
		return nil
	}
	if x.Verb == act.Create {
		x.Verb = act.Stat
	}
	f.number, x.Dir = at.number, n.mode.IsDir()
	if flag&os.O_TRUNC != 0 && len(n.data) > 0 {
		x.Verb = act.Update
		d.change(&change{kind: truncate, inode: at.number, volatile: n.volatile})
		f.truncated = true
	}
	return nil
}

// make creates an inode for a name.
func (d *Disk) make(at place, mode fs.FileMode) int {
	c := &change{kind: create, dir: at.dir, name: at.name, inode: d.number(), mode: mode, volatile: d.live[at.dir].volatile}
	d.change(c)
	return c.inode
}

// Open opens a file or a directory for reading.
func (p *Process) Open(name string) (*File, error) { return p.OpenFile(name, os.O_RDONLY, 0) }

// Create creates or truncates a file.
func (p *Process) Create(name string) (*File, error) {
	return p.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, fileMode)
}

// ReadFile returns the content of a file. It is one message: nothing can happen between open
// and read, because a file has one name.
func (p *Process) ReadFile(name string) (content []byte, err error) {
	err = p.pass(Access{Verb: act.Read, Path: clean(name)}, reading, p.disk.volatile(name), func(x *Access) error {
		n, err := p.disk.get(name)
		if err != nil {
			return err
		}
		if n.mode.IsDir() {
			return syscall.EISDIR
		}
		content = slices.Clone(n.data)
		x.Size = len(content)
		x.says(content)
		return nil
	})
	return content, wrap("open", name, err)
}

// get returns the inode of a path.
func (d *Disk) get(name string) (*inode, error) {
	at, err := d.live.find(name)
	if err == nil && at.number == 0 {
		err = syscall.ENOENT
	}
	return d.live[at.number], err
}

// WriteFile creates or replaces a file: the open truncates it, then it is written, and a crash
// may come between.
func (p *Process) WriteFile(name string, content []byte, mode fs.FileMode) error {
	f, err := p.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// Mkdir creates a directory.
func (p *Process) Mkdir(name string, mode fs.FileMode) error {
	return wrap("mkdir", name, p.pass(Access{Verb: act.Create, Path: clean(name), Dir: true}, inodes, p.disk.volatile(name), func(*Access) error {
		at, err := p.disk.live.find(name)
		switch {
		case err != nil:
			return err
		case at.number != 0:
			return syscall.EEXIST
		}
		p.disk.make(at, fs.ModeDir|mode.Perm())
		return nil
	}))
}

// MkdirAll creates a directory and its missing parents.
func (p *Process) MkdirAll(name string, mode fs.FileMode) error {
	if info, err := p.Stat(name); err == nil {
		if info.IsDir() {
			return nil
		}
		return wrap("mkdir", name, syscall.ENOTDIR)
	}
	if dir := path.Dir(clean(name)); dir != "/" {
		if err := p.MkdirAll(dir, mode); err != nil {
			return err
		}
	}
	err := p.Mkdir(name, mode)
	if errors.Is(err, fs.ErrExist) { // another process has created it
		if info, _ := p.Stat(name); info != nil && info.IsDir() {
			return nil
		}
	}
	return err
}

// Remove removes a file or an empty directory.
func (p *Process) Remove(name string) error {
	return wrap("remove", name, p.pass(Access{Verb: act.Delete, Path: clean(name)}, changing, p.disk.volatile(name), func(x *Access) error {
		at, err := p.disk.live.find(name)
		if err != nil {
			return err
		}
		n := p.disk.live[at.number]
		switch {
		case n == nil:
			return syscall.ENOENT
		case at.dir == 0, len(n.entries) > 0:
			return syscall.ENOTEMPTY
		}
		x.Dir = n.mode.IsDir()
		p.disk.change(&change{kind: unlink, dir: at.dir, name: at.name, inode: at.number, volatile: n.volatile})
		return nil
	}))
}

// RemoveAll removes a file or a directory with its content, one entry after the other. A
// missing name is no error.
func (p *Process) RemoveAll(name string) error {
	err := p.Remove(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !errors.Is(err, syscall.ENOTEMPTY) {
		return err
	}
	names, err := p.ReadDir(name)
	if err != nil {
		return err
	}
	for _, e := range names {
		if err := p.RemoveAll(path.Join(name, e.Name())); err != nil {
			return err
		}
	}
	if err := p.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Rename renames a file or a directory and replaces an existing file. Between a tmpfs and the
// disk it is EXDEV.
func (p *Process) Rename(from, to string) error {
	return wrap("rename", from, p.pass(Access{Verb: act.Rename, Path: clean(from), To: clean(to)}, changing, p.disk.volatile(from), func(*Access) error {
		return p.disk.rename(from, to)
	}))
}

func (d *Disk) rename(from, to string) error {
	a, err := d.live.find(from)
	if err == nil && a.number == 0 {
		err = syscall.ENOENT
	}
	if err != nil {
		return err
	}
	b, err := d.live.find(to)
	n, over := d.live[a.number], d.live[b.number]
	switch {
	case err != nil:
		return err
	case a.dir == 0 || b.dir == 0 || strings.HasPrefix(clean(to), clean(from)+"/"):
		return syscall.EINVAL
	case n.volatile != d.live[b.dir].volatile:
		return syscall.EXDEV
	case a == b:
		return nil
	case over != nil && over.mode.IsDir():
		return syscall.EEXIST
	case over != nil && n.mode.IsDir():
		return syscall.ENOTDIR
	}
	d.change(&change{kind: rename, dir: a.dir, name: a.name, toDir: b.dir, to: b.name, inode: a.number, volatile: n.volatile})
	if over != nil && !n.volatile {
		d.allocate(a.number)
	}
	return nil
}

// Stat describes a file or a directory.
func (p *Process) Stat(name string) (info fs.FileInfo, err error) {
	err = p.pass(Access{Verb: act.Stat, Path: clean(name)}, reading, p.disk.volatile(name), func(x *Access) error {
		n, err := p.disk.get(name)
		if err == nil {
			info, x.Dir = n.info(name), n.mode.IsDir()
		}
		return err
	})
	return info, wrap("stat", name, err)
}

// ReadDir returns the entries of a directory, sorted by name.
func (p *Process) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = p.pass(Access{Verb: act.List, Path: clean(name), Dir: true}, reading, p.disk.volatile(name), func(x *Access) error {
		n, err := p.disk.get(name)
		if err != nil {
			return err
		}
		if !n.mode.IsDir() {
			return syscall.ENOTDIR
		}
		for _, e := range slices.Sorted(maps.Keys(n.entries)) {
			entries = append(entries, fs.FileInfoToDirEntry(p.disk.live[n.entries[e]].info(e)))
		}
		x.Size = len(entries)
		return nil
	})
	return entries, wrap("open", name, err)
}

// info describes an inode under a name.
func (n *inode) info(name string) fs.FileInfo {
	return info{path.Base(name), int64(len(n.data)), n.mode, sim.Epoch.Add(n.modified)}
}

type info struct {
	name     string
	size     int64
	mode     fs.FileMode
	modified time.Time
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.modified }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
