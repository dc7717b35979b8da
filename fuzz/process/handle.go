// Package process holds the processes in which runs take place, one after another.
// Nothing else lives in them, because a run may take its process along, and
// because the goroutines of anything beside a bubble are one more thing that no
// seed decides. Whoever holds one asks, in lines of JSON, and if it dies learns why.
package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// Handle holds one worker process: a child process that may die.
type Handle struct {
	cmd *exec.Cmd
	in  *os.File // asks
	out *os.File // answers
	dec *json.Decoder
	enc *json.Encoder
	err *Tail
	dir string
}

// Answer is what a worker process says to a question. One that got stuck must go: its bubble
// cannot be unwound.
type Answer interface {
	Stuck() (cause, stacks string) // "" if it did not
}

// Self returns a command that runs this program. A coordinator starts workers, which start worker
// processes, which start nothing. A deeper start is refused: a program that does not obey
// the arguments, such as a test without cli.Main, would start itself without end.
func Self(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(Executable(), args...)
	cmd.Args[0] = "ipamsim"
	if env == nil {
		env = os.Environ()
	}
	depth, _ := strconv.Atoi(os.Getenv(depthEnv)) // unset: 0
	if cmd.Env = append(env[:len(env):len(env)], fmt.Sprintf("%s=%d", depthEnv, depth+1)); depth >= depthMax {
		cmd.Err = errors.New("this program starts itself as a worker process, but runs something else; call cli.Main with the arguments of the process")
	}
	return cmd
}

const (
	depthEnv = "IPAMSIM_PROCESS_DEPTH"
	depthMax = 3
)

// Executable returns the file of this program. On Linux it stays the same file when a
// build replaces it.
func Executable() string {
	const linux = "/proc/self/exe"
	if _, err := os.Stat(linux); err == nil {
		return linux
	}
	file, err := os.Executable()
	if err != nil {
		return linux // the start fails, and its error names this file
	}
	return file
}

// Start a worker process: this program with these arguments and, as the last one, a directory
// of its own below scratch. Nil is the environment of this process.
func Start(scratch string, env []string, args ...string) (*Handle, error) {
	dir, err := os.MkdirTemp(scratch, "c")
	if err != nil {
		return nil, err
	}
	k := &Handle{cmd: Self(env, append(args[:len(args):len(args)], dir)...), err: &Tail{}, dir: dir}
	var theirs [2]*os.File
	if theirs[0], k.in, err = os.Pipe(); err == nil {
		k.out, theirs[1], err = os.Pipe()
	}
	if err == nil {
		k.cmd.ExtraFiles = theirs[:]
		k.cmd.Stderr = k.err
		k.cmd.WaitDelay = 2 * time.Second // for what upstream may have started
		k.enc, k.dec = json.NewEncoder(k.in), json.NewDecoder(k.out)
		err = k.cmd.Start()
	}
	for _, f := range theirs {
		_ = f.Close() // a nil file says so
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return k, nil
}

// Send writes a message that needs no answer.
func (k *Handle) Send(q any) error {
	if err := k.enc.Encode(q); err != nil {
		return errors.New(k.bury().Cause)
	}
	return nil
}

// Ask has one question answered. Where there is a death there is no answer. If
// ctx ends, the worker process is killed.
func (k *Handle) Ask(ctx context.Context, q any, a Answer) *Death {
	k.err.mark()
	stop := context.AfterFunc(ctx, func() { _ = k.cmd.Process.Kill() })
	defer stop()
	slow := time.AfterFunc(runMax, func() { _ = k.cmd.Process.Kill() })
	err := k.enc.Encode(q)
	if err == nil {
		err = k.dec.Decode(a)
	}
	hung := !slow.Stop()
	if err == nil {
		cause, stacks := a.Stuck()
		if cause == "" {
			return nil
		}
		k.bury()
		return stuckDeath(cause, stacks)
	}
	d := k.bury()
	if hung {
		d = stuckDeath("no answer for "+runMax.String(), "")
	}
	return d
}

// runMax is longer than anything but a run without end takes. What does not move
// at all is noticed by sim.Run itself much earlier.
const runMax = 15 * time.Minute

// bury waits for a worker process that has ended or is about to, and says how it died.
func (k *Handle) bury() *Death {
	_ = k.in.Close()
	time.AfterFunc(5*time.Second, func() { _ = k.cmd.Process.Kill() })
	err := k.cmd.Wait()
	_ = k.out.Close()
	_ = os.RemoveAll(k.dir)
	return classify(err, k.err.String())
}

// Kill ends a worker process.
func (k *Handle) Kill() {
	_ = k.cmd.Process.Kill()
	k.bury()
}
