// Package interfaceplugin has the CNI plugins around an address manager that is an IPAM plugin: the
// plugin that creates the interface and executes the IPAM plugin, and those that follow in a list.
//
// They are a model in one table (All): of an interface plugin it only contains the calls of its
// IPAM plugin, and the points where it can fail. There are no interfaces. Around wraps the Add and
// Del of a manager. Calico's plugin is upstream's own code and is not in the table.
package interfaceplugin
