package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ipamsim/cmd/calico/lab/netns"
)

// daemon is one BIRD and the directory with its configuration, control socket and
// log.
type daemon struct {
	path    string // of the program
	dir     string
	config  string // its file there
	restart bool   // bird -R, as calico-node starts it: recover what a restart left
	space   *netns.Space
	cmd     *exec.Cmd // nil while it does not run
}

// start starts BIRD in the foreground.
//
// Source: node/filesystem/etc/service/available/bird/run (bird -R -s … -d -c …).
func (d *daemon) start() error {
	log, err := os.OpenFile(d.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own descriptor
	args := []string{"-d", "-c", filepath.Join(d.dir, d.config), "-s", d.socket(), "-P", filepath.Join(d.dir, "bird.pid")}
	if d.restart {
		args = append(args, "-R")
	}
	d.cmd = exec.Command(d.path, args...)
	d.cmd.Stdout, d.cmd.Stderr = log, log
	if err := d.space.Start(d.cmd); err != nil {
		d.cmd = nil
		return fmt.Errorf("start %s: %w", d.path, err)
	}
	return nil
}

// kill ends BIRD as a crash does: it closes no session and leaves its routes in the kernel.
func (d *daemon) kill() {
	if d.cmd == nil {
		return
	}
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait() // killed
	d.cmd = nil
}

func (d *daemon) socket() string  { return filepath.Join(d.dir, "bird.ctl") }
func (d *daemon) logFile() string { return filepath.Join(d.dir, "bird.log") }

// lastWords are the last lines of its log.
func (d *daemon) lastWords(lines int) []string {
	b, err := os.ReadFile(d.logFile())
	if err != nil {
		return nil
	}
	all := strings.Split(strings.TrimSpace(string(b)), "\n")
	return all[max(0, len(all)-lines):]
}

// errBird is wrapped by the error of a command that BIRD refused.
var errBird = errors.New("BIRD refuses")

// askMax is how long BIRD may think about a command: it is single-threaded, and
// the machine may be busy.
const askMax = 5 * time.Second

// ask sends one command over the control socket, as birdc does, and returns the
// lines of the answer without their codes.
//
// Source: BIRD 1.6, doc/reply_codes: four digits and '-' for a line that others
// follow, ' ' for the last one; a line that begins with a space continues the one
// before; 8xxx and 9xxx are errors.
func (d *daemon) ask(command string) ([]string, error) {
	c, err := net.DialTimeout("unix", d.socket(), askMax)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(askMax)); err != nil {
		return nil, err
	}
	r := bufio.NewReader(c)
	if _, err := answer(r); err != nil { // its greeting
		return nil, fmt.Errorf("bird %s: %w", command, err)
	}
	if _, err := fmt.Fprintln(c, command); err != nil {
		return nil, fmt.Errorf("bird %s: %w", command, err)
	}
	lines, err := answer(r)
	if err != nil {
		return nil, fmt.Errorf("bird %s: %w", command, err)
	}
	return lines, nil
}

func answer(r *bufio.Reader) (lines []string, err error) {
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "+") {
			lines = append(lines, line[1:])
			continue
		}
		if len(line) < 5 {
			return nil, fmt.Errorf("not a reply of BIRD: %q", line)
		}
		lines = append(lines, line[5:])
		switch {
		case line[0] == '8' || line[0] == '9':
			return nil, fmt.Errorf("%w: %s", errBird, line[5:])
		case line[4] == ' ':
			return lines, nil
		}
	}
}

// session is one BGP protocol of a BIRD.
type session struct {
	name        string // Mesh_10_64_0_12
	established bool
	says        string // what BIRD says of it
}

// with reports whether the session's peer is a, by its name: both Calico's
// templates and ours end it with the peer's address.
func (s session) with(a netip.Addr) bool {
	return strings.HasSuffix(s.name, "_"+named(a))
}

// named is an address as a part of a protocol's name.
func named(a netip.Addr) string { return strings.NewReplacer(".", "_", ":", "_").Replace(a.String()) }

// sessions lists its BGP protocols.
func (d *daemon) sessions() ([]session, error) {
	lines, err := d.ask("show protocols")
	if err != nil {
		return nil, err
	}
	return parseSessions(lines), nil
}

// parseSessions reads the lines "name proto table state since info" of BIRD's
// answer to show protocols; since is one word, or two with a date.
func parseSessions(lines []string) (found []session) {
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) < 5 || f[1] != "BGP" {
			continue
		}
		found = append(found, session{
			name: f[0], established: f[3] == "up" && slices.Contains(f, "Established"), says: strings.Join(f[3:], " "),
		})
	}
	return found
}

// disable takes a session down as an operator does.
func (d *daemon) disable(session string) error {
	_, err := d.ask("disable " + session)
	return err
}
