// Package netns has network namespaces of Linux and what the lab needs of one: interfaces,
// cables, routes, pings. Run makes a copy of the program that may have them without root.
package netns

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Space is a network namespace: a machine, a router, a pod or the cables between
// them. It has no name; it ends when it is closed and its processes are gone.
type Space struct {
	fd     int // of the namespace
	handle *netlink.Handle
}

// threadSpace is the calling thread's network namespace. By pid and thread id it
// could not be found: /proc may belong to an outer process namespace.
const threadSpace = "/proc/thread-self/ns/net"

// New makes a network namespace that forwards packets without the kernel's
// opinions about them.
func New() (*Space, error) {
	s := &Space{}
	err := onThread(func() error { return unix.Unshare(unix.CLONE_NEWNET) }, func() (err error) {
		if s.fd, err = unix.Open(threadSpace, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			return err
		}
		if s.handle, err = netlink.NewHandle(unix.NETLINK_ROUTE); err != nil {
			_ = unix.Close(s.fd)
			return err
		}
		return forward()
	})
	if err != nil {
		return nil, fmt.Errorf("new network namespace: %w", err)
	}
	return s, s.up("lo")
}

// Close lets the namespace go.
func (s *Space) Close() {
	s.handle.Close()
	_ = unix.Close(s.fd)
}

// onThread calls move, which takes the calling thread to another network
// namespace, then do there, and takes the thread home.
func onThread(move, do func() error) error {
	runtime.LockOSThread()
	home, err := unix.Open(threadSpace, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer func() {
		// A thread that does not find home stays locked and ends with its goroutine.
		if unix.Setns(home, unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		_ = unix.Close(home)
	}()
	if err := move(); err != nil {
		return err
	}
	return do()
}

// in calls do on a thread of the namespace: sockets and processes made there
// belong to it.
func (s *Space) in(do func() error) error {
	return onThread(func() error { return unix.Setns(s.fd, unix.CLONE_NEWNET) }, do)
}

// Start starts a process in the namespace.
func (s *Space) Start(cmd *exec.Cmd) error { return s.in(cmd.Start) }

// output runs a process in the namespace and returns all that it printed, also if
// it failed.
func (s *Space) output(cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := s.Start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	return out.String(), err
}

// forward sets a router's options for the calling thread's namespace. Replies may return another
// way (no reverse path filter), no host gets a redirect, and every undeliverable packet is answered
// (no rate limit), so that a ping shows what the tables say.
func forward() error {
	for _, set := range []struct{ key, value string }{
		{"ipv4/ip_forward", "1"}, {"ipv4/conf/all/forwarding", "1"}, {"ipv4/conf/default/forwarding", "1"},
		{"ipv4/conf/all/rp_filter", "0"}, {"ipv4/conf/default/rp_filter", "0"},
		{"ipv4/conf/all/accept_redirects", "0"}, {"ipv4/conf/default/accept_redirects", "0"},
		{"ipv4/conf/all/send_redirects", "0"}, {"ipv4/conf/default/send_redirects", "0"},
		{"ipv4/icmp_ratelimit", "0"},
		{"ipv6/conf/all/forwarding", "1"}, {"ipv6/conf/default/forwarding", "1"},
		{"ipv6/conf/default/accept_ra", "0"}, {"ipv6/conf/default/accept_dad", "0"},
		{"ipv6/conf/all/accept_redirects", "0"}, {"ipv6/conf/default/accept_redirects", "0"},
		{"ipv6/icmp/ratelimit", "0"},
	} {
		if err := os.WriteFile("/proc/sys/net/"+set.key, []byte(set.value), 0o644); err != nil {
			return err
		}
	}
	return nil
}
