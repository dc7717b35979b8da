package linear

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// input is the input of an operation. There are no outputs: all operations of a wire are about the
// same address.
type input struct {
	kind kind
	hold *hold
}

type kind uint8

const (
	take kind = iota
	free
)

// holders is the state of one wire: the holds of the address, in the order of their ADDs.
type holders []*hold

// set is the specification of a correct allocator: an ADD does not return an address that another
// sandbox on the same wire holds, and a release is of an address that the sandbox holds.
var set = porcupine.Model{
	Init: func() any { return holders(nil) },
	Step: func(state, in, _ any) (bool, any) {
		now, op := state.(holders), in.(input)
		at := slices.Index(now, op.hold)
		switch {
		case op.kind == take && at >= 0:
			return true, now // ADD may be repeated
		case op.kind == take && slices.ContainsFunc(now, op.hold.touches):
			return false, nil
		case op.kind == take:
			return true, append(slices.Clone(now), op.hold)
		case at < 0:
			return false, nil
		}
		return true, slices.Delete(slices.Clone(now), at, at+1)
	},
	Equal: func(a, b any) bool { return slices.Equal(a.(holders), b.(holders)) },
	// The descriptions are for the page. Its script inserts operations as text, but states and
	// metadata as HTML.
	DescribeOperation: func(in, _ any) string {
		op := in.(input)
		if op.kind == take {
			return fmt.Sprintf("%s takes %s", op.hold.who(), op.hold.addr)
		}
		return fmt.Sprintf("%s releases (%s)", op.hold.pod, op.hold.why)
	},
	DescribeState: func(state any) string {
		var out []string
		for _, h := range state.(holders) {
			out = append(out, html.EscapeString("held by "+h.who()))
		}
		if out == nil {
			return "free"
		}
		return strings.Join(out, "<br>")
	},
	DescribeOperationMetadata: func(m any) string { return strings.Join(m.(*hold).story(), "<br>") },
}

func (h *hold) who() string { return fmt.Sprintf("%s on %s", h.pod, h.node) }

// story returns the tooltip of an operation: lines of HTML.
func (h *hold) story() []string {
	lines := []string{
		fmt.Sprintf("%s of pod %s", h.addr, h.pod),
		fmt.Sprintf("interface %s, network %s", h.iface, h.network),
		fmt.Sprintf("sandbox %.12s on node %s", h.container, h.node),
	}
	for _, a := range h.adds {
		lines = append(lines, fmt.Sprintf("ADD from %s to %s", a.from.Round(time.Microsecond), a.to.Round(time.Microsecond)))
	}
	switch from := h.freed.from.Round(time.Microsecond); {
	case !h.given:
		lines = append(lines, "held to the end of the run")
	case h.settled:
		lines = append(lines, fmt.Sprintf("%s at %s, DEL done at %s", h.why, from, h.freed.to.Round(time.Microsecond)))
	default:
		lines = append(lines, fmt.Sprintf("%s at %s, no DEL came through: free at any time after, or never", h.why, from))
	}
	for i := range lines {
		lines[i] = html.EscapeString(lines[i])
	}
	return lines
}
