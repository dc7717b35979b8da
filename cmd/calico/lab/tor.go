package main

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"ipamsim/model/route"
)

// tor is the configuration of a top-of-rack router. Its BIRD stands for whatever
// speaks BGP in a rack; Calico has no say in it.
type tor struct {
	route.TopOfRack
	id             netip.Addr
	as             uint32
	nodes, routers []neighbor
}

type neighbor struct {
	addr netip.Addr
	as   uint32
}

// write writes bird.cfg into a directory. Its timers are those of Calico's
// template, so that sessions come up as fast from both ends. Subnets of other
// racks are in the kernel already, as routes of the boot protocol.
func (t tor) write(dir string) error {
	const timers = "connect delay time 2; connect retry time 5; error wait time 5,30;"
	var b strings.Builder
	fmt.Fprintf(&b, `router id %s;
log stderr all;
protocol device { scan time 2; }
protocol direct { interface "*"; }
protocol kernel { scan time 2; learn; import all; export where source = RTS_BGP; merge paths on; }
`, t.id)
	fromNodes, toRouters := "all", "where source = RTS_BGP"
	if most := max(t.MaxLength, t.MaxLength6); most > 0 { // one of them: a topology is of one family
		short := fmt.Sprintf("net.len <= %d", most)
		if t.MaxLengthBetween {
			toRouters += " && " + short
		} else {
			fromNodes = "where " + short
		}
	}
	for _, n := range t.nodes {
		fmt.Fprintf(&b, "protocol bgp %s {\n  local as %d; neighbor %s as %d; %s\n  import %s;\n  export %s;\n}\n",
			protocolName(n.addr), t.as, n.addr, n.as, timers, fromNodes, t.toNodes(n.as))
	}
	for _, r := range t.routers {
		fmt.Fprintf(&b, "protocol bgp %s {\n  local as %d; neighbor %s as %d; %s next hop self;\n  import all;\n  export %s;\n}\n",
			protocolName(r.addr), t.as, r.addr, r.as, timers, toRouters)
	}
	return os.WriteFile(filepath.Join(dir, familyOf(t.nodes[0].addr).bird+".cfg"), []byte(b.String()), 0o644)
}

func protocolName(a netip.Addr) string { return "N_" + named(a) }

// toNodes is the export of what other nodes and routers said.
func (t tor) toNodes(as uint32) string {
	switch {
	case t.DefaultOnly:
		return "none"
	case t.ASOverride:
		return fmt.Sprintf("filter { if source != RTS_BGP then reject; bgp_path.delete(%d); accept; }", as)
	}
	return "where source = RTS_BGP"
}
