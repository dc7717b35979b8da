// Package interfaceplugin has the CNI plugins around an address manager that is an IPAM
// plugin: the one that makes the interface and executes it, and those that follow in a list.
//
// They are a model, one table (All): of an interface plugin only what it has to do with its
// IPAM plugin is here, and where it can fail. There are no interfaces. Around puts them around
// the Add and Del of a manager. Calico's plugin is upstream's own code and no row of the table.
package interfaceplugin
