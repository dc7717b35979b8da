package interfaceplugin

import "slices"

// Plugin is what an interface plugin has to do with its IPAM plugin. All of them execute its
// ADD, and its DEL where the table does not say otherwise. An ADD that fails before the IPAM
// plugin is executed is no row here: it claims nothing.
type Plugin struct {
	Type string
	// Undoes: an ADD that fails after the IPAM plugin succeeded executes the IPAM plugin's DEL.
	Undoes bool
	// UndoesEmpty: so does an ADD whose IPAM plugin succeeded without an address.
	UndoesEmpty bool
	// LinkFirst: a DEL takes the interface away before it executes the IPAM plugin. The others
	// do so after it.
	LinkFirst bool
	// NeedsNamespace: a DEL without a network namespace succeeds and executes nothing.
	NeedsNamespace bool
	Source         Source
}

// Source says at which lines of a file of containernetworking/plugins (v1.10.0) the plugin
// executes the ADD of its IPAM plugin, the DEL that undoes it, the DEL of its own DEL, and
// where its DEL asks for the network namespace.
type Source struct {
	File                      string
	Add, Undo, Del, Namespace int
}

// All are the plugins that are simulated, by type.
//
// Each has a deferred function that undoes the IPAM plugin's ADD if err is not nil. None but
// bridge sets it when there is no address: they return another error. In ipvlan the deferred
// function sees the err of an inner block (line 267), and the failure to configure the
// interface is kept in that of the function (line 296): it undoes nothing.
//
// host-device: every pod is taken to have a device of its own.
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

// chained are the plugins of upstream's that follow an interface plugin in a list. Here they
// do nothing but fail.
var chained = []string{"bandwidth", "firewall", "portmap", "sbr", "tuning", "vrf"}

// of is the row of a type. One that has none counts as macvlan: only an import may have it.
func of(kind string) Plugin {
	if i := slices.IndexFunc(All, func(p Plugin) bool { return p.Type == kind }); i >= 0 {
		return All[i]
	}
	return macvlan
}

// types are those of All.
func types() (out []string) {
	for _, p := range All {
		out = append(out, p.Type)
	}
	return out
}
