package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// keeper holds one cell: a child process that may die.
type keeper struct {
	cmd  *exec.Cmd
	in   *os.File // asks
	out  *os.File // answers
	dec  *json.Decoder
	enc  *json.Encoder
	err  *tail
	dir  string
	used bool // it has run something since it was started
}

// The files of a cell: 0, 1 and 2 belong to upstream.
const (
	cellIn  = 3
	cellOut = 4
)

// CellFiles are what the process of a cell serves.
func CellFiles() (in, out *os.File) {
	return os.NewFile(cellIn, "asks"), os.NewFile(cellOut, "answers")
}

// self is a command of this program.
func self(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Args[0] = "ipamsim"
	return cmd
}

// newKeeper starts a cell that keeps its files in a directory of its own below
// scratch.
func newKeeper(scratch string, spec *Spec) (*keeper, error) {
	dir, err := os.MkdirTemp(scratch, "c")
	if err != nil {
		return nil, err
	}
	k := &keeper{cmd: self("cell", dir), err: &tail{}, dir: dir}
	var theirs [2]*os.File
	if theirs[0], k.in, err = os.Pipe(); err == nil {
		k.out, theirs[1], err = os.Pipe()
	}
	if err == nil {
		k.cmd.ExtraFiles = theirs[:]
		k.cmd.Stderr = k.err
		k.cmd.WaitDelay = 2 * time.Second // for what upstream may have started
		k.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, secretEnv) })
		k.enc, k.dec = json.NewEncoder(k.in), json.NewDecoder(k.out)
		err = k.cmd.Start()
	}
	for _, f := range theirs {
		_ = f.Close() // a nil file says so
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := k.enc.Encode(ask{Spec: spec}); err != nil {
		return nil, errors.New(k.bury().Cause)
	}
	return k, nil
}

// ask has one question answered. Where there is a death there is no answer. If
// ctx ends, the cell is killed.
func (k *keeper) ask(ctx context.Context, q ask) (*answer, *Death) {
	k.err.mark()
	k.used = true
	stop := context.AfterFunc(ctx, func() { _ = k.cmd.Process.Kill() })
	defer stop()
	slow := time.AfterFunc(runMax, func() { _ = k.cmd.Process.Kill() })
	a := &answer{}
	err := k.enc.Encode(q)
	if err == nil {
		err = k.dec.Decode(a)
	}
	hung := !slow.Stop()
	switch {
	case err == nil && a.Stuck == "":
		return a, nil
	case err == nil:
		k.bury()
		return nil, stuckDeath(a.Stuck, a.Stacks)
	}
	d := k.bury()
	if hung {
		d = stuckDeath("no answer for "+runMax.String(), "")
	}
	return nil, d
}

// runMax is longer than anything but a run without end takes. What does not move
// at all is noticed by sim.Run itself much earlier.
const runMax = 15 * time.Minute

// bury waits for a cell that has ended or is about to, and says how it died.
func (k *keeper) bury() *Death {
	_ = k.in.Close()
	time.AfterFunc(5*time.Second, func() { _ = k.cmd.Process.Kill() })
	err := k.cmd.Wait()
	_ = k.out.Close()
	_ = os.RemoveAll(k.dir)
	return autopsy(err, k.err.String())
}

// kill ends a cell.
func (k *keeper) kill() {
	_ = k.cmd.Process.Kill()
	k.bury()
}
