package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// process is a program of upstream's that runs.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	log  string
}

// start starts one that is called name, with these variables beside our own; what it says
// goes to a file in dir. It ends with ctx.
func start(ctx context.Context, name, binary, dir string, env []string, args ...string) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, binary, args...), done: make(chan struct{}), log: filepath.Join(dir, name+".log")}
	out, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd.Args[0] = name
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = 5 * time.Second
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	return p, nil
}

// said is the end of what it has logged.
func (p *process) said() []byte {
	b, _ := os.ReadFile(p.log)
	return b[max(0, len(b)-2000):]
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		p.kill()
	}
}

// kill ends it at once, as a machine does that loses power.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}
