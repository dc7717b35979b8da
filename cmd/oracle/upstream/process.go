package upstream

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Process is a program of upstream's that runs.
type Process struct {
	Cmd  *exec.Cmd
	Done chan struct{} // closed when it has ended
	log  string
}

// Start starts one that is called name, with these variables beside our own; what it says
// goes to a file in dir. It ends with ctx.
func Start(ctx context.Context, name, binary, dir string, env []string, args ...string) (*Process, error) {
	p := &Process{Cmd: exec.CommandContext(ctx, binary, args...), Done: make(chan struct{}), log: filepath.Join(dir, name+".log")}
	out, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.Cmd.Args[0] = name
	p.Cmd.Env = append(os.Environ(), env...)
	p.Cmd.Stdout, p.Cmd.Stderr = out, out
	p.Cmd.Cancel = func() error { return p.Cmd.Process.Signal(syscall.SIGTERM) }
	p.Cmd.WaitDelay = 5 * time.Second
	if err := p.Cmd.Start(); err != nil {
		return nil, err
	}
	go func() { _ = p.Cmd.Wait(); close(p.Done) }()
	return p, nil
}

// Said is the end of what it has logged.
func (p *Process) Said() []byte {
	b, _ := os.ReadFile(p.log)
	return b[max(0, len(b)-2000):]
}

// Stop asks it to end, and ends it if it does not.
func (p *Process) Stop() {
	_ = p.Cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.Done:
	case <-time.After(10 * time.Second):
		p.Kill()
	}
}

// Kill ends it at once, as a machine does that loses power.
func (p *Process) Kill() {
	_ = p.Cmd.Process.Kill()
	<-p.Done
}
