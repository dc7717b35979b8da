package invariant_test

import (
	"fmt"
	"net/netip"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
)

// Two live sandboxes have one address, which is claimed for neither.
func ExampleAll() {
	address := netip.MustParseAddr("10.0.0.47")
	sandbox := func(name, node string, since time.Duration) model.Sandbox {
		return model.Sandbox{
			ID: name, Pod: model.PodRef{Namespace: "default", Name: name}, Node: node,
			Attachments: []model.Attachment{{Network: "default/net", Interface: "net1", Addrs: []netip.Addr{address}, Since: since}},
		}
	}
	prefix := netip.MustParsePrefix("10.0.0.0/24")
	view := invariant.View{
		Truth: model.Truth{Sandboxes: []model.Sandbox{
			sandbox("web-2", "node-1", 4*time.Second), sandbox("web-3", "node-2", 72500*time.Millisecond),
		}},
		Networks: []model.Network{{Key: "default/net", Ranges: []model.Range{
			{Prefix: prefix, Start: netip.MustParseAddr("10.0.0.1"), End: netip.MustParseAddr("10.0.0.254")},
		}}},
	}.Indexed()
	for _, i := range invariant.All() {
		if i.Phase != invariant.Always {
			continue
		}
		for _, v := range i.Check(view) {
			fmt.Printf("%s %s: %s\n", v.Severity, v.Invariant, i.Say(&v))
		}
	}
	// Output:
	// critical duplicate-address: 10.0.0.47 in network default/net is held by two live sandboxes: default/web-2 on node-1 since 4s, and default/web-3 on node-2 since 1m12.5s
	// major unbacked-sandbox: default/web-2 on node-1 has 10.0.0.47 in network default/net since 4s, but no claim records it: another pod can get it
	// major unbacked-sandbox: default/web-3 on node-2 has 10.0.0.47 in network default/net since 1m12.5s, but no claim records it: another pod can get it
}
