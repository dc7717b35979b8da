// Package disk is the file system of one simulated machine: files, directories and locks
// in memory, of which a loss of power takes what was not yet on disk.
//
// A process reaches it by a Process: each of its system calls is a message at its gate,
// which the schedule delivers, delays or fails. Errors are those of the operating system
// (*fs.PathError with a syscall.Errno), so that os.IsNotExist and errors.Is know them.
//
// There are no rights, no links and no sparse files, and a file has one name. What a
// journaling file system promises, and what it does not, is in journal.go.
package disk

import (
	"io/fs"
	"path"
	"sync"
	"syscall"
	"time"

	"ipamsim/sim"
)

// Disk is that of one machine. It outlives processes and, but for what is in a tmpfs, a
// reboot.
type Disk struct {
	node string
	now  func() time.Duration

	mu     sync.Mutex // not held while waiting
	live   tree       // as processes see it
	stored tree       // as it is on disk whatever happens
	log    []*change  // what is between the two, oldest first
	next   int        // the number of the last inode
	locks  map[int]*lock
	faults [faults]int
	slow   sim.Slowness

	revision int64
}

// tmpfs are the directories that are memory; the other standard ones are on disk.
var (
	tmpfs    = []string{"/run", "/tmp", "/dev/shm"}
	standard = []string{"/etc/cni/net.d", "/opt/cni/bin", "/var/lib/cni", "/var/log", runLock}
)

// runLock is made at each boot, by systemd-tmpfiles.
const runLock = "/run/lock"

const (
	dirMode  = fs.ModeDir | 0o755
	fileMode = fs.FileMode(0o644)
)

// New is the disk of a machine that was just installed: the standard directories and
// nothing in them. The clock is that of w; nil: time does not pass for it.
func New(w *sim.World, node string) *Disk {
	d := &Disk{node: node, now: func() time.Duration { return 0 }}
	if w != nil {
		d.now = w.Now
	}
	d.Reimage()
	return d
}

// Node is the name of the machine.
func (d *Disk) Node() string { return d.node }

// Revision is higher after whatever changed what processes see. It never falls.
func (d *Disk) Revision() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.revision
}

// Reimage takes everything away: the machine is installed anew, or thrown away with its
// disk. Processes that still run do not survive it; whoever kills them does so first.
func (d *Disk) Reimage() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live, d.log, d.locks, d.next = tree{}, nil, map[int]*lock{}, root-1
	d.live.apply(&change{kind: create, inode: d.number(), mode: dirMode})
	for _, name := range tmpfs {
		d.directory(name)
		at, _ := d.live.find(name) // it was just made
		d.live[at.number].volatile = true
	}
	d.stored = d.live.clone()
	for _, name := range standard {
		d.directory(name)
	}
	d.install()
}

// Put is a file that was there when the machine was installed, with its directories.
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

// install makes what is there now what is on disk.
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

// directory makes a directory, and those that lead to it, as they are found.
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
	Full     Fault = iota // no block is free: ENOSPC of what makes a file longer; an empty file can be made
	NoInodes              // no inode is free: ENOSPC of what makes a file or a directory
	ReadOnly              // mounted again read-only, as ext4 does after an error: EROFS of every change
	Broken                // EIO of everything
	faults
)

// Fail begins a fault; the function ends it. A tmpfs has none of them.
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

// Slow makes every system call take at least so long; the function ends it.
func (d *Disk) Slow(by time.Duration) (end func()) { return d.slow.Add(by) }

// ails is why a system call of this kind fails now, or nil.
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

// need is what a system call needs of the disk.
type need uint8

const (
	reading  need = iota
	changing      // a name or a size
	inodes
	blocks
)
