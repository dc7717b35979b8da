package netns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// insideVariable marks the copy of this program that runs in its own namespaces.
const insideVariable = "IPAMSIM_LAB_INSIDE"

// CannotIsolate is the exit code of a copy that cannot be isolated; the reason is on its standard error.
const CannotIsolate = 75

// Inside reports whether this process is the isolated copy.
func Inside() bool { return os.Getenv(insideVariable) != "" }

// isolated is a command that runs this very program again, with the arguments,
// in user, mount, network and process namespaces of its own: it may do anything
// there and reach nothing outside, and when its first process ends the kernel
// ends all others and removes every interface.
//
// Without userNamespace it needs to be root, for kernels that forbid user
// namespaces.
func isolated(args []string, userNamespace bool) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		Pdeathsig:  syscall.SIGKILL,
	}
	if userNamespace {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return cmd, nil
}

// Probe reports whether the machine allows this program its own namespaces, and whether a user namespace is needed. why
// is the reason, in one line; "" if it does.
func Probe() (userNamespace bool, why string) {
	asUser := try(true)
	if asUser == "" {
		return true, ""
	}
	if os.Geteuid() != 0 {
		return false, "no user namespace: " + asUser
	}
	if asRoot := try(false); asRoot != "" {
		return false, "no user namespace: " + asUser + "; no other namespaces: " + asRoot
	}
	return false, ""
}

// try runs a copy that only makes itself at home, and returns why it could not.
func try(userNamespace bool) (why string) {
	cmd, err := isolated([]string{"-probe"}, userNamespace)
	if err != nil {
		return err.Error()
	}
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil && len(out) > 0:
		return firstLine(out)
	case err != nil:
		return err.Error()
	}
	return ""
}

func firstLine(b []byte) string {
	for i, c := range b {
		if c == '\n' {
			return string(b[:i])
		}
	}
	return string(b)
}

// Run runs the copy until it ends and returns its exit code. The end of
// ctx is passed on to it as a signal; a copy that does not end then is killed.
func Run(ctx context.Context, args []string, userNamespace bool, stdout, stderr io.Writer) (int, error) {
	cmd, err := isolated(args, userNamespace)
	if err != nil {
		return 0, err
	}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	// The kernel sends Pdeathsig when the thread ends that made the copy.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
		select {
		case <-ended:
		case <-time.After(letGoMax):
			_ = cmd.Process.Kill()
		}
	}()
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// letGoMax is how long a person waits after Ctrl-C.
const letGoMax = 900 * time.Millisecond

// WorkDir is a directory of the copy's own /run: in memory, invisible to other processes, and
// deleted with the copy.
const WorkDir = "/run/lab"

// Settle makes the copy's namespaces fit to work in: no mount goes out, /run is
// empty and private, and it may make what the lab is made of.
func Settle() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
		return fmt.Errorf("mount a private /run: %w", err)
	}
	if err := os.MkdirAll(WorkDir, 0o755); err != nil {
		return err
	}
	s, err := New()
	if err != nil {
		return err
	}
	defer s.Close()
	other, err := New()
	if err != nil {
		return err
	}
	defer other.Close()
	if err := s.Bridge("br0"); err != nil {
		return err
	}
	return s.Cable("br0", "v0", other, "v1")
}
