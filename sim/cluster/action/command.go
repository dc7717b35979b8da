package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
)

// Command is a command line of an operator: the manager's own tool, or "ip route" or "ip -6 route"
// on a node. Its output becomes part of the history.
type Command struct {
	Run  string `json:"run" jsonschema:"required"` // calicoctl ipam show --show-blocks
	Node string `json:"node,omitempty"`            // where; default: the operator's own machine
}

// ipRoute are the commands that every node understands: its table of IPv4, and of IPv6.
var ipRoute, ip6Route = []string{"ip", "route"}, []string{"ip", "-6", "route"}

// Do runs it. Nothing is executed outside of the simulation.
func (a *Command) Do(ctx context.Context, o *cluster.Operator) error {
	argv := strings.Fields(a.Run)
	var out string
	var err error
	if six := slices.Equal(argv, ip6Route); six || slices.Equal(argv, ipRoute) {
		if err = o.Cluster.CheckNode(a.Node); err == nil {
			out, err = o.Cluster.Checker.Table(a.Node, six)
		}
	} else if tool := o.Cluster.Instance.Command; tool != nil {
		out, err = tool(ctx, o.Gate, argv)
	} else {
		err = fmt.Errorf("%s: command not found", argv[0])
	}
	e := model.Event{Kind: model.Output, Actor: o.ID, Node: a.Node, Text: a.Run, Output: out}
	if err != nil {
		e.Err = err.Error()
	}
	o.Cluster.Checker.Record(e)
	if err != nil && out != "" {
		return &kubeapi.Done{Err: err}
	}
	return err
}

func (a *Command) String() string { return a.Run }

// checkCommand checks a command line before the run.
func checkCommand(m *ipam.Manager, c *Command) error {
	argv := strings.Fields(c.Run)
	switch {
	case len(argv) == 0:
		return fmt.Errorf("empty, want a command, e.g. ip route")
	case (slices.Equal(argv, ipRoute) || slices.Equal(argv, ip6Route)) && c.Node == "":
		return fmt.Errorf("%[1]s needs a node: {node: NAME, run: %[1]s}", strings.Join(argv, " "))
	case slices.Equal(argv, ipRoute), slices.Equal(argv, ip6Route):
		return nil
	case m.CheckCommand == nil:
		return fmt.Errorf("%q is no command here, want ip route", argv[0])
	default:
		return m.CheckCommand(argv)
	}
}

// words are the command without its arguments.
func (a *Command) words() string {
	var verbs []string
	for _, w := range strings.Fields(a.Run) {
		if strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
			break // the first argument: an option, an address, a file
		}
		verbs = append(verbs, w)
	}
	return strings.Join(verbs, " ")
}

var command = described(define(Kind{
	Name: "command", Class: model.OperatorAction,
	Doc: "A line in a terminal: the manager's own tool, or ip route on a node. Ordinary if it creates or deletes a Service.",
}, func(c Checker, a *Command) {
	if a.Node != "" {
		c.Node(a.Node, "node")
	}
	if err := checkCommand(c.Manager(), a); err != nil {
		c.Bad(true, Part{"run"}, "%s", oneLine(err))
	}
}), func(a *Command, ref *model.ActionRef) {
	ref.Verb, ref.Object, _ = strings.Cut(a.words(), " ")
	if sub, _, _ := strings.Cut(ref.Object, " "); ref.Verb == kubectl && sub != "patch" {
		ref.Class = model.Ordinary // creates or deletes a Service: the only other commands
	}
})

// kubectl is the one tool of every cluster.
const kubectl = "kubectl"
