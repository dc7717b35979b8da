// Package process executes runs in separate processes, one after another. A run may kill its
// process, and goroutines beside a bubble would not be controlled by the seed, so these processes
// do nothing else. The owner of a process sends requests as lines of JSON; if the process dies, it
// gets the reason.
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

// Handle is a running worker process, which may die at any time.
type Handle struct {
	cmd *exec.Cmd
	in  *os.File // requests
	out *os.File // replies
	dec *json.Decoder
	enc *json.Encoder
	err *Tail
	dir string
}

// Answer is the reply of a worker process. After a run that got stuck the process has to end, because
// the goroutines of its bubble cannot be ended.
type Answer interface {
	Stuck() (cause, stacks string) // "" if the run ended
}

// Self returns a command that runs this program. A coordinator starts workers, which start worker
// processes, which start none. A deeper start is refused: a program that ignores the
// arguments, such as a test without cli.Main, would start itself recursively.
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

// Executable returns the file of this program. On Linux it stays valid when a build replaces the
// program.
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

// Start starts a worker process: this program with these arguments and, as the last argument, a new
// directory below scratch. A nil env means the environment of this process.
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
		k.cmd.WaitDelay = 2 * time.Second // for processes that upstream may have started
		k.enc, k.dec = json.NewEncoder(k.in), json.NewDecoder(k.out)
		err = k.cmd.Start()
	}
	for _, f := range theirs {
		_ = f.Close() // does nothing for a nil file
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return k, nil
}

// Send sends a request that has no reply.
func (k *Handle) Send(q any) error {
	if err := k.enc.Encode(q); err != nil {
		return errors.New(k.reap().Cause)
	}
	return nil
}

// Ask sends a request and waits for the reply in a. If it returns a Death, there is no reply. If ctx
// ends, the worker process is killed.
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
		k.reap()
		return stuckDeath(cause, stacks)
	}
	d := k.reap()
	if hung {
		d = stuckDeath("no answer for "+runMax.String(), "")
	}
	return d
}

// runMax is longer than any run that ends. A run that makes no progress is detected much earlier by
// sim.Run.
const runMax = 15 * time.Minute

// reap waits for the end of a worker process, and returns how it died.
func (k *Handle) reap() *Death {
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
	k.reap()
}
