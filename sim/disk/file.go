package disk

import (
	"io"
	"io/fs"
	"slices"
	"syscall"

	"ipamsim/model/act"
)

// File is an open file or directory. It belongs to one process, and to one goroutine at a
// time. System calls of a nil File fail as those of a nil os.File (fs.ErrInvalid).
type File struct {
	named
	process   *Process
	number    int
	offset    int
	appends   bool
	truncated bool // by this open, and it was not empty
	closed    bool
	held      *lock // nil: no lock
}

// named has its own method, so that a program that calls Name on a nil file panics in its own
// code.
type named struct{ name string }

// Name returns the name with which it was opened.
func (n *named) Name() string { return n.name }

// pass sends a system call about an open file.
func (f *File) pass(op string, v act.Verb, n need, do func(*Access, *inode) error) error {
	if f == nil {
		return fs.ErrInvalid
	}
	if f.closed {
		return wrap(op, f.name, fs.ErrClosed)
	}
	d := f.process.disk
	return wrap(op, f.name, f.process.pass(Access{Verb: v, Path: clean(f.name)}, n, d.volatile(f.name), func(x *Access) error {
		node := d.live[f.number]
		if node == nil { // removed while open: the data will never be read
			node = &inode{volatile: true}
		}
		x.Dir = node.mode.IsDir()
		return do(x, node)
	}))
}

// Read continues at the file's offset. It returns io.EOF at the end.
func (f *File) Read(b []byte) (n int, err error) {
	err = f.pass("read", act.Read, reading, func(x *Access, node *inode) error {
		if node.mode.IsDir() {
			return syscall.EISDIR
		}
		n = copy(b, node.data[min(f.offset, len(node.data)):])
		f.offset += n
		x.Size = n
		x.says(b[:n])
		return nil
	})
	if err == nil && n == 0 && len(b) > 0 {
		err = io.EOF
	}
	return n, err
}

// Write continues at the file's offset, or at the end of a file opened with O_APPEND. It
// writes all or nothing.
func (f *File) Write(b []byte) (int, error) {
	err := f.pass("write", act.Update, blocks, func(x *Access, node *inode) error {
		if node.mode.IsDir() {
			return syscall.EBADF
		}
		if f.appends {
			f.offset = len(node.data)
		}
		f.process.disk.change(&change{kind: write, inode: f.number, offset: f.offset, data: slices.Clone(b), volatile: node.volatile})
		f.offset += len(b)
		x.Size = len(b)
		x.says(b)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// WriteString is Write.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// Seek sets the offset; it is not a message.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	from := 0
	switch whence {
	case io.SeekCurrent:
		from = f.offset
	case io.SeekEnd:
		f.process.disk.mu.Lock()
		if n := f.process.disk.live[f.number]; n != nil {
			from = len(n.data)
		}
		f.process.disk.mu.Unlock()
	}
	if from += int(offset); from < 0 {
		return 0, wrap("seek", f.name, syscall.EINVAL)
	}
	f.offset = from
	return int64(from), nil
}

// Truncate changes the size.
func (f *File) Truncate(size int64) error {
	if size < 0 {
		return wrap("truncate", f.name, syscall.EINVAL)
	}
	return f.pass("truncate", act.Update, changing, func(_ *Access, node *inode) error {
		f.process.disk.change(&change{kind: truncate, inode: f.number, offset: int(size), volatile: node.volatile})
		return nil
	})
}

// Sync writes the file's data to the disk, and the names and sizes of all files.
func (f *File) Sync() error {
	return f.pass("sync", act.Sync, changing, func(_ *Access, node *inode) error {
		if !node.volatile {
			f.process.disk.sync(f.number)
		}
		return nil
	})
}

// Stat describes the file.
func (f *File) Stat() (info fs.FileInfo, err error) {
	err = f.pass("stat", act.Stat, reading, func(_ *Access, node *inode) error {
		info = node.info(f.name)
		return nil
	})
	return info, err
}

// Close closes the file and releases its lock. It is a message only if there is a lock, and
// fails only if the file is closed.
func (f *File) Close() error {
	if f == nil {
		return fs.ErrInvalid
	}
	if f.closed {
		return wrap("close", f.name, fs.ErrClosed)
	}
	err := f.Unlock()
	f.closed = true
	if d := f.process.disk; f.truncated {
		d.mu.Lock()
		defer d.mu.Unlock()
		if n := d.live[f.number]; n != nil && !n.volatile {
			d.change(&change{kind: allocate, inode: f.number})
			d.allocate(f.number)
		}
	}
	return err
}
