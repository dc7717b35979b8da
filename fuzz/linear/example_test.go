package linear_test

import (
	"fmt"
	"net/netip"
	"time"

	"ipamsim/fuzz/linear"
	"ipamsim/model"
)

// Two pods with the same address are correct if some order of the ADDs and DELs explains it.
// web-1 got 10.0.0.1 while web-0's DEL was still running: the DEL may have come first. Then
// web-2 got it, too, although web-1 had not released it: no order explains that.
func ExampleCheck() {
	h := &model.History{}
	say := func(at time.Duration, kind model.EventKind, pod string, got ...netip.Addr) {
		h.Add(model.Event{
			At: at * time.Second, Kind: kind, Node: "node-a", Pod: model.PodRef{Namespace: "default", Name: pod},
			Container: "sandbox of " + pod, Network: "default/net1", Interface: "net1", Addrs: got,
		})
	}
	a := netip.MustParseAddr("10.0.0.1")
	say(1, model.AddBegin, "web-0")
	say(2, model.AddEnd, "web-0", a)
	say(8, model.AddBegin, "web-1")
	say(9, model.SandboxDown, "web-0") // its containers have stopped
	say(9, model.DelBegin, "web-0")
	say(10, model.AddEnd, "web-1", a)
	say(11, model.DelEnd, "web-0")
	fmt.Println(linear.Check(h, nil, linear.Patience).Verdict)

	say(20, model.AddBegin, "web-2")
	say(21, model.AddEnd, "web-2", a)
	r := linear.Check(h, nil, linear.Patience)
	fmt.Println(r.Verdict, r.Wires[0].Addr, r.Wires[0].Networks)
	// Output:
	// linearizable
	// not linearizable 10.0.0.1 [default/net1]
}
