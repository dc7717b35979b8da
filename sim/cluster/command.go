package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/sim/ipam"
)

// Command is a line that somebody types into a terminal: the manager's own tool,
// or "ip route" on a node. What it prints becomes part of the history.
type Command struct {
	Run  string `json:"run" jsonschema:"required"` // calicoctl ipam show --show-blocks
	Node string `json:"node,omitempty"`            // where; default: the operator's own machine
}

// ipRoute is the command that every node understands.
var ipRoute = []string{"ip", "route"}

// Do runs it. Nothing is executed outside of the simulation.
func (a *Command) Do(ctx context.Context, o *Operator) error {
	argv := strings.Fields(a.Run)
	var out string
	var err error
	if slices.Equal(argv, ipRoute) {
		out, err = o.c.ipRoute(a.Node)
	} else if tool := o.c.inst.Command; tool != nil {
		out, err = tool(ctx, o.gate, argv)
	} else {
		err = fmt.Errorf("%s: command not found", argv[0])
	}
	e := model.Event{Kind: model.Output, Actor: o.id, Node: a.Node, Text: a.Run, Output: out}
	if err != nil {
		e.Err = err.Error()
	}
	o.c.Checker.Record(e)
	return err
}

func (a *Command) String() string { return a.Run }

// ipRoute prints a node's routing table.
func (c *Cluster) ipRoute(node string) (string, error) {
	if c.node(node) == nil {
		return "", fmt.Errorf("no node %q", node)
	}
	return c.Checker.Table(node)
}

// CheckCommand says what is wrong with a command line, before anything runs.
func CheckCommand(m *ipam.Manager, c *Command) error {
	argv := strings.Fields(c.Run)
	switch {
	case len(argv) == 0:
		return fmt.Errorf("empty, want a command, e.g. ip route")
	case slices.Equal(argv, ipRoute) && c.Node == "":
		return fmt.Errorf("ip route needs a node: {node: NAME, run: ip route}")
	case slices.Equal(argv, ipRoute):
		return nil
	case m.CheckCommand == nil:
		return fmt.Errorf("%q is no command here, want ip route", argv[0])
	default:
		return m.CheckCommand(argv)
	}
}
