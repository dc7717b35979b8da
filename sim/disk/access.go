package disk

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"syscall"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/way"
)

// Access is one system call with its result: the Detail of a step.
type Access struct {
	Node string
	Verb act.Verb
	Path string
	To   string // the new name of a rename
	Dir  bool   // it concerns a directory
	Size int    // bytes read or written; for a directory, the names read
	Text string // the first bytes, up to textMax
	Err  error
}

// textMax is the part of a file that a trace keeps: the relevant files of address managers
// have one or two lines.
const textMax = 64

// Act describes the system call for reports.
func (x Access) Act() act.Act {
	a := act.Act{Verb: x.Verb, Thing: act.Thing{Kind: act.File, Name: x.Path, Size: x.Size, Owner: model.Ref{Kind: model.RefNode, Name: x.Node}}}
	if x.Dir {
		a.Thing.Kind = act.Directory
	}
	if x.Text != "" {
		a.Thing.Parts = []act.Thing{{Kind: act.Text, Name: x.Text}}
	}
	if x.To != "" {
		a.Thing.Parts = []act.Thing{{Kind: act.File, Name: x.To}}
	}
	switch no := syscall.Errno(0); {
	case x.Err == nil:
		return a
	case errors.Is(x.Err, fs.ErrNotExist):
		a.Outcome = act.Absent
	case errors.Is(x.Err, fs.ErrExist):
		a.Outcome = act.Exists
	case errors.Is(x.Err, syscall.EWOULDBLOCK):
		a.Outcome = act.Conflict
	case errors.As(x.Err, &no):
		a.Outcome, a.Error = act.Failed, no.Error()
	default:
		a.Outcome, a.Error = act.Failed, x.Err.Error()
	}
	return a
}

func (x *Access) says(content []byte) { x.Text = string(content[:min(len(content), textMax)]) }

// verbs name system calls in a trace: "CREATE files/node-a/var/lib/cni/x".
var verbs = map[act.Verb]string{
	act.Stat: "STAT", act.Read: "READ", act.List: "READDIR", act.Create: "CREATE", act.Update: "WRITE",
	act.Delete: "REMOVE", act.Rename: "RENAME", act.Sync: "FSYNC", act.Lock: "LOCK", act.Unlock: "UNLOCK",
}

// op describes a system call to the schedule.
func (x *Access) op(n need) sim.Op {
	kind := sim.Read
	if n != reading || x.Verb == act.Lock || x.Verb == act.Unlock {
		kind = sim.Write
	}
	op := sim.Op{
		Kind: kind, Class: Class, OnNode: true,
		Request: &sim.Request{Verb: verbs[x.Verb], Resource: "files", Name: x.Path, Path: path.Join("files", x.Node, x.Path)},
	}
	if x.Verb == act.Lock || x.Verb == act.Unlock {
		return op
	}
	op.Faults, op.Fails = sim.Of(sim.FailBefore), way.Of(way.IOError)
	if n == inodes || n == blocks {
		op.Fails |= way.Of(way.DiskFull)
	}
	return op
}

// Class is the latency class of system calls.
const Class = "disk"

// ways are the errors of a system call that the schedule fails.
var ways = map[way.Way]syscall.Errno{way.IOError: syscall.EIO, way.DiskFull: syscall.ENOSPC}

// pass sends a system call through the gate. do returns its error: nil, a syscall.Errno or an
// error of this package. The caller of do holds mu.
func (p *Process) pass(x Access, n need, volatile bool, do func(*Access) error) error {
	d := p.disk
	x.Node = d.node
	call := func(ctx context.Context) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if !p.inspects {
			x.Err = d.ails(n, volatile)
		}
		if x.Err == nil {
			x.Err = do(&x)
		}
		note := "ok"
		if x.Err != nil {
			note = x.Err.Error()
		}
		sim.Report(ctx, note, x)
		return x.Err
	}
	var err error
	if p.gate == nil {
		err = call(context.Background())
	} else if err = d.slow.Wait(p.ctx); err == nil {
		err = p.gate.Pass(p.ctx, x.op(n), call)
	}
	if f := (*sim.Fault)(nil); errors.As(err, &f) {
		err = ways[way.Way(f.Level)]
	}
	return err
}
