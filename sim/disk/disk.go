// Package disk is the file system of one simulated machine: files, directories and locks in
// memory. A power loss discards data that is not yet on disk.
//
// Processes use a Process: each of its system calls is a message at the process's gate, which
// the schedule delivers, delays or fails. Errors are those of the operating system
// (*fs.PathError with a syscall.Errno), so that os.IsNotExist and errors.Is work.
//
// There are no permissions, no links and no sparse files, and a file has one name. journal.go
// describes the guarantees of a journaling file system.
package disk

import (
	"io/fs"
	"path"
	"sync"
	"syscall"
	"time"

	"ipamsim/sim"
)

// Disk is the disk of one machine. It survives processes and, except for tmpfs, a reboot.
type Disk struct {
	node string
	now  func() time.Duration

	mu     sync.Mutex // not held while waiting
	live   tree       // the view of processes
	stored tree       // the part that is on disk in any case
	log    []*change  // the changes between the two, oldest first
	next   int        // the number of the last inode
	locks  map[int]*lock
	faults [faults]int
	slow   sim.Slowness

	revision int64
}

// tmpfs are the directories in memory; the other standard directories are on disk.
var (
	tmpfs    = []string{"/run", "/tmp", "/dev/shm"}
	standard = []string{"/etc/cni/net.d", "/opt/cni/bin", "/var/lib/cni", "/var/log", runLock}
)

// runLock is created at each boot, by systemd-tmpfiles.
const runLock = "/run/lock"

const (
	dirMode  = fs.ModeDir | 0o755
	fileMode = fs.FileMode(0o644)
)

// New returns the disk of a newly installed machine: the empty standard directories. The clock
// is that of w; nil: time does not pass.
func New(w *sim.World, node string) *Disk {
	d := &Disk{node: node, now: func() time.Duration { return 0 }}
	if w != nil {
		d.now = w.Now
	}
	d.Reimage()
	return d
}

// Node returns the name of the machine.
func (d *Disk) Node() string { return d.node }

// Revision increases with each change of the view of processes. It never falls.
func (d *Disk) Revision() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.revision
}

// Reimage deletes everything: the machine is reinstalled, or replaced with its disk. The
// caller first kills the processes, which do not survive it.
func (d *Disk) Reimage() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live, d.log, d.locks, d.next = tree{}, nil, map[int]*lock{}, root-1
	d.live.apply(&change{kind: create, inode: d.number(), mode: dirMode})
	for _, name := range tmpfs {
		d.directory(name)
		at, _ := d.live.find(name) // it was just created
		d.live[at.number].volatile = true
	}
	d.stored = d.live.clone()
	for _, name := range standard {
		d.directory(name)
	}
	d.install()
}

// Put adds a file of the installation, with its directories.
func (d *Disk) Put(name string, content []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.directory(path.Dir(clean(name)))
	at, _ := d.live.find(name)
	if at.number == 0 {
		at.number = d.number()
		d.live.apply(&change{kind: create, dir: at.dir, name: at.name, inode: at.number, mode: fileMode, volatile: d.live[at.dir].volatile})
	}
	d.live.apply(&change{kind: truncate, inode: at.number})
	d.live.apply(&change{kind: write, inode: at.number, data: content})
	d.install()
}

// install writes the present state to the disk.
func (d *Disk) install() {
	d.revision++
	d.stored, d.log = d.live.clone(), nil
	for _, n := range d.stored {
		if !n.volatile {
			continue
		}
		for name, number := range n.entries {
			delete(d.stored, number)
			delete(n.entries, name)
		}
	}
}

// directory creates a directory and its parents as part of the installation.
func (d *Disk) directory(name string) {
	if at, err := d.live.find(name); err == nil && at.number != 0 {
		return
	}
	d.directory(path.Dir(name))
	at, _ := d.live.find(name)
	d.live.apply(&change{kind: create, dir: at.dir, name: at.name, inode: d.number(), mode: dirMode, volatile: d.live[at.dir].volatile})
}

func (d *Disk) number() int {
	d.next++
	return d.next
}

// Fault is a state of the disk in which system calls fail.
type Fault uint8

// The faults.
const (
	Full     Fault = iota // no block is free: growing a file is ENOSPC; an empty file can be created
	NoInodes              // no inode is free: creating a file or directory is ENOSPC
	ReadOnly              // remounted read-only, as ext4 does after an error: every change is EROFS
	Broken                // every call is EIO
	faults
)

// Fail begins a fault; the function ends it. A tmpfs is not affected.
func (d *Disk) Fail(f Fault) (end func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults[f]++
	return sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.faults[f]--
	})
}

// Slow sets a minimum duration of every system call; the function ends it.
func (d *Disk) Slow(by time.Duration) (end func()) { return d.slow.Add(by) }

// ails returns why a system call of this kind fails now, or nil.
func (d *Disk) ails(n need, volatile bool) error {
	switch {
	case volatile:
		return nil
	case d.faults[Broken] > 0:
		return syscall.EIO
	case n != reading && d.faults[ReadOnly] > 0:
		return syscall.EROFS
	case n == inodes && d.faults[NoInodes] > 0, n == blocks && d.faults[Full] > 0:
		return syscall.ENOSPC
	}
	return nil
}

// need is what a system call requires of the disk.
type need uint8

const (
	reading  need = iota
	changing      // a name or a size
	inodes
	blocks
)
