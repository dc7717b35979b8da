package invariant

import (
	"testing"

	"ipamsim/model"
)

// onDisk moves the claim of web-0 to the disk of node-1: a file that names a container and no pod.
func onDisk(v *View) *model.Claim {
	c := &v.Record.Claims[0]
	c.Node, c.Pod = "node-1", model.PodRef{}
	v.History.Add(model.Event{Kind: model.AddBegin, Container: "c0", Pod: web("0"), At: sec(9)})
	return c
}

// A claim on the disk of a node is released there and nowhere else.
func TestClaimsOnADisk(t *testing.T) {
	orphan := func(v *View) { onDisk(v); del(v, "0", "c0"); v.Truth.At = sec(300) }
	const leaked = "10.0.0.1 stays claimed in pool 10.0.0.0-28 for default/web-0 (container c0), which has no live sandbox since 20s"
	table(t, LeakedClaim, []row{
		{"its container is gone", orphan, leaked},
		{"its container lives", func(v *View) { onDisk(v); v.Truth.At = sec(300) }, ""},
		{"the node is off", func(v *View) { orphan(v); v.Truth.Nodes["node-1"] = model.Node{Registered: true} }, ""},
		{"the node is back for a minute", func(v *View) {
			orphan(v)
			v.Truth.Nodes["node-1"] = model.Node{Registered: true, Up: true, Since: sec(240)}
		}, ""},
		{"on no node's disk: no node that is off keeps it", func(v *View) { orphan(v); v.Record.Claims[0].Node = "" }, leaked},
	})
	const outlived = "after convergence 10.0.0.1 is still claimed in pool 10.0.0.0-28 for default/web-0 (container c0), which does not have it"
	table(t, Convergence, []row{
		{"its container is gone", orphan, outlived},
		{"the node is off", func(v *View) { orphan(v); v.Truth.Nodes["node-1"] = model.Node{Registered: true} }, ""},
	})
}

// A file without a container is never released.
func TestTornClaims(t *testing.T) {
	torn := func(v *View) {
		c := onDisk(v)
		c.Container, c.Interface, c.Torn = "", "", true
		del(v, "0", "c0")
	}
	table(t, Convergence, []row{
		{"its owner is lost", torn, "after convergence 10.0.0.1 is still claimed in pool 10.0.0.0-28 of node-1, and its owner was never written or is lost: no DEL releases it"},
		{"an ADD may be about to write it", func(v *View) { torn(v); busy(v, "c9", "9", "node-1", false, sec(59)) }, ""},
		{"the node is off", func(v *View) { torn(v); v.Truth.Nodes["node-1"] = model.Node{Registered: true} }, ""},
		{"somebody made it by hand", func(v *View) { torn(v); v.Record.Claims[0].Torn = false }, ""},
	})
}
