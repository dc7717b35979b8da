package interfaceplugin

import "slices"

// Plugin describes the calls between an interface plugin and its IPAM plugin. All plugins execute
// its ADD, and its DEL unless the table says otherwise. An ADD that fails before the IPAM plugin is
// executed is not in the table: it claims nothing.
type Plugin struct {
	Type string
	// Undoes: an ADD that fails after the IPAM plugin succeeded executes the IPAM plugin's DEL.
	Undoes bool
	// UndoesEmpty: an ADD whose IPAM plugin succeeded without an address is undone too.
	UndoesEmpty bool
	// LinkFirst: a DEL takes the interface away before it executes the IPAM plugin. The others
	// do so after it.
	LinkFirst bool
	// NeedsNamespace: a DEL without a network namespace succeeds and executes nothing.
	NeedsNamespace bool
	Source         Source
}

// Source are the lines of a file of containernetworking/plugins (v1.10.0) in which the plugin
// executes the ADD of its IPAM plugin, the DEL that undoes it, the DEL of its own DEL, and in which
// its DEL checks for the network namespace.
type Source struct {
	File                      string
	Add, Undo, Del, Namespace int
}

// All are the simulated plugins, by type.
//
// Each has a deferred function that undoes the IPAM plugin's ADD if err is not nil. Only bridge
// sets err if there is no address; the others return another error. In ipvlan the deferred function
// sees the err of an inner block (line 267), and a failure to configure the interface is in that of
// the function (line 296): it undoes nothing.
//
// host-device: every pod is assumed to have its own device.
var All = []Plugin{
	{Type: "bridge", Undoes: true, UndoesEmpty: true, LinkFirst: true, Source: Source{"bridge/bridge.go", 623, 631, 809, 816}},
	{Type: "dummy", Undoes: true, Source: Source{"dummy/dummy.go", 108, 116, 153, 157}},
	{Type: "host-device", Undoes: true, NeedsNamespace: true, Source: Source{"host-device/host-device.go", 192, 200, 254, 244}},
	{Type: "ipvlan", Source: Source{"ipvlan/ipvlan.go", 267, 275, 319, 325}},
	macvlan,
	{Type: "ptp", Undoes: true, Source: Source{"ptp/ptp.go", 191, 199, 265, 269}},
	{Type: "tap", Undoes: true, Source: Source{"tap/tap.go", 285, 293, 354, 360}},
	{Type: "vlan", Undoes: true, Source: Source{"vlan/vlan.go", 195, 203, 263, 269}},
}

var macvlan = Plugin{Type: "macvlan", Undoes: true, Source: Source{"macvlan/macvlan.go", 325, 333, 397, 403}}

// chained are the plugins of upstream that follow an interface plugin in a list. Here they can only
// fail.
var chained = []string{"bandwidth", "firewall", "portmap", "sbr", "tuning", "vrf"}

// of is the row of a type. One that has none counts as macvlan: only an import may have it.
func of(kind string) Plugin {
	if i := slices.IndexFunc(All, func(p Plugin) bool { return p.Type == kind }); i >= 0 {
		return All[i]
	}
	return macvlan
}

// types are the types in All.
func types() (out []string) {
	for _, p := range All {
		out = append(out, p.Type)
	}
	return out
}
