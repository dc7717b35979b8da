package disk

import (
	"slices"
	"time"
)

// A journaling file system, ext4 as distributions mount it (data=ordered, delayed
// allocation), delays writes:
//
//   - Changes of names and sizes go to a journal, which is committed in order, as a whole,
//     every commitAfter. A power loss reverts the last changes, never one in the middle.
//   - File data is written up to writebackAfter later. Until then the file on disk exists
//     and is empty.
//   - fsync commits the journal and writes the file's data.
//   - The data of a file that is renamed over another, or that was truncated and closed, is
//     on disk before that change of the journal (auto_da_alloc).
//
// Source: Documentation/admin-guide/ext4.rst, commit= and auto_da_alloc;
// vm.dirty_expire_centisecs and vm.dirty_writeback_centisecs (Linux 6.12).
const (
	commitAfter    = 5 * time.Second
	writebackAfter = 35 * time.Second
)

// Loss is the part of the unwritten changes that a power loss discards. The zero Loss discards
// nothing.
type Loss struct {
	Journal int  // how many of the last changes of names and sizes are lost
	Data    Data // the remaining files that lose their unwritten data
}

// Data selects the data that a power loss discards.
type Data uint8

// The values of Data, from none to all.
const (
	NoData    Data = iota
	LastFile       // all of the file that was written last
	LastWrite      // the last write of every file: a file written in two parts is half there
	AllData
	Datas // their number
)

// change makes a change and logs it until it is on disk. The caller holds mu.
func (d *Disk) change(c *change) {
	c.at = d.now()
	d.revision++
	d.live.apply(c)
	if c.volatile {
		return
	}
	d.log = append(d.log, c)
	d.settle()
}

// settle applies the passage of time, and moves changes that are on disk to the tree that
// survives every power loss.
func (d *Disk) settle() {
	now := d.now()
	for _, c := range d.log {
		after := commitAfter
		if c.kind == write {
			after = writebackAfter
		}
		c.sure = c.sure || now-c.at >= after || c.before != nil && c.before.sure
	}
	d.fold()
}

func (d *Disk) fold() {
	sure := 0
	for sure < len(d.log) && d.log[sure].sure {
		d.stored.apply(d.log[sure])
		sure++
	}
	d.log = slices.Delete(d.log, 0, sure)
}

// sync is the fsync of a file.
func (d *Disk) sync(number int) {
	for _, c := range d.log {
		c.sure = c.sure || c.kind != write || c.inode == number
	}
	d.settle()
}

// allocate writes the data of a file before the last change of the journal.
func (d *Disk) allocate(number int) {
	if len(d.log) == 0 {
		return
	}
	last := d.log[len(d.log)-1]
	for _, c := range d.log {
		if c.kind == write && c.inode == number && c.before == nil {
			c.before = last
		}
	}
}

// Unsynced returns how many changes of names and sizes, and how many writes, a power loss
// could discard now.
func (d *Disk) Unsynced() (journal, writes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
	for _, c := range d.log {
		switch {
		case c.sure:
		case c.kind == write:
			writes++
		default:
			journal++
		}
	}
	return journal, writes
}

// PowerLoss is a power loss of the machine: the content of tmpfs is gone, and l selects which
// unwritten changes are lost. The caller has killed the processes.
func (d *Disk) PowerLoss(l Loss) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.revision++
	d.settle()
	kept := d.log[:d.cut(l.Journal)]
	lost := lostOf(kept, l.Data)
	d.live = d.stored.clone()
	for _, c := range kept {
		if !lost[c] {
			d.live.apply(c)
			d.stored.apply(c)
		}
	}
	d.log, d.locks = nil, map[int]*lock{}
	d.directory(runLock)
}

// cut returns the index of the first change that is lost with the last n of the journal.
func (d *Disk) cut(n int) int {
	at := len(d.log)
	for i := len(d.log) - 1; i >= 0 && n > 0; i-- {
		if c := d.log[i]; c.kind != write {
			if c.sure {
				break
			}
			at, n = i, n-1
		}
	}
	return at
}

// lostOf returns the writes that a power loss discards: the last ones of each file.
func lostOf(kept []*change, data Data) map[*change]bool {
	lost, last := map[*change]bool{}, map[int]bool{}
	for _, c := range slices.Backward(kept) {
		ordered := c.before != nil && slices.Contains(kept, c.before)
		if c.kind != write || c.sure || ordered {
			continue
		}
		switch data {
		case AllData:
			lost[c] = true
		case LastWrite:
			lost[c] = !last[c.inode]
		case LastFile:
			lost[c] = len(last) == 0 || last[c.inode]
			if !lost[c] {
				continue
			}
		}
		last[c.inode] = true
	}
	return lost
}
