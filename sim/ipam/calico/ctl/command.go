package ctl

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	cipam "github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/store"
)

// command is one of "calicoctl ipam ...", or "calicoctl delete ippool".
type command struct {
	usage string // upstream's own text, which docopt reads
	// check validates values that docopt does not.
	check func(flags) error
	run   func(context.Context, *execution, flags) (string, error)
}

// Tool is calicoctl in one run of a cluster.
type Tool struct {
	env ipam.Env
	ds  store.Store
	// setup prepares the datastore before the first process needs it.
	setup func() error
	// console is where operators type.
	console *console
}

// New returns the tool of a run. setup prepares the datastore before the first process needs it.
func New(env ipam.Env, ds store.Store, setup func() error) *Tool {
	return &Tool{env, ds, setup, newConsole()}
}

// execution is one run of calicoctl as a process, and the gate it uses.
type execution struct {
	*Tool
	gate *sim.Gate
}

var commands = map[string]command{
	"check":     {usageOf("check", versioned(cipam.Check)), checkOptions, runCheck},
	"configure": {usageOf("configure", cipam.Configure), configureOptions, runConfigure},
	"release":   {usageOf("release", versioned(cipam.Release)), releaseOptions, runRelease},
	"show":      {usageOf("show", cipam.Show), showOptions, runShow},
}

func versioned(f func([]string, string) error) func([]string) error {
	return func(args []string) error { return f(args, store.Version) }
}

// Command runs calicoctl's own code and returns its output, byte for byte, also with an error. The
// text of the error is the last line that calicoctl prints, on standard error.
//
// show and check read at one instant and pass no gate. configure and release send their messages
// through g, so that allocations may come between them.
//
// Problems that check finds are an error with the method Problems() int, although calicoctl exits
// with status 0.
//
// The start of calicoctl is left out: it reads no configuration file, and does not compare its
// version with the cluster's.
func (t *Tool) Command(ctx context.Context, g *sim.Gate, argv []string) (string, error) {
	c, o, err := parse(argv)
	if err == nil {
		err = t.setup()
	}
	if err != nil {
		return "", err
	}
	return c.run(ctx, &execution{t, g}, o)
}

// Check returns the error of a command line in one line, with calicoctl's text if it has one.
func Check(argv []string) error {
	_, _, err := parse(argv)
	return err
}

func parse(argv []string) (command, flags, error) {
	if c, ok := deletePool(argv); ok && argv[0] == "calicoctl" {
		return c, nil, nil
	}
	if len(argv) < 3 || argv[0] != "calicoctl" || argv[1] != "ipam" {
		return command{}, nil, fmt.Errorf("calico: %s: only %q and %q are simulated", quote(argv), "calicoctl ipam COMMAND", "calicoctl delete ippool NAME")
	}
	c, ok := commands[argv[2]]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(commands)), ", ")
		return command{}, nil, fmt.Errorf("calico: calicoctl ipam: there is no %q here, only %s", argv[2], known)
	}
	o, err := c.parse(argv[1:])
	if err == nil {
		err = c.check(o)
	}
	return c, o, err
}

func quote(argv []string) string {
	if len(argv) == 0 {
		return "an empty command"
	}
	return fmt.Sprintf("%q", strings.Join(argv, " "))
}

// checkIP refuses what calicoctl would exit on.
//
// Source: calicoctl/calicoctl/commands/argutils/validate.go, ValidateIP.
func checkIP(o flags) error {
	ip, ok := o["--ip"].(string)
	if !ok {
		return nil
	}
	if a, err := netip.ParseAddr(ip); err != nil || a.Zone() != "" {
		return fmt.Errorf("invalid IP address specified: %s", ip)
	}
	return nil
}
