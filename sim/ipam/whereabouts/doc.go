// Package whereabouts runs the real Whereabouts in the simulation: its CNI ADD
// and DEL with their lease election, the ip-reconciler, the pod control loop and
// the node-slice controller. Only what upstream keeps in package main, and what
// it finds out from its machine, is repeated here, with its source.
//
// # What a machine tells Whereabouts, and how it is told here
//
// The plugin reads a flat file, whereabouts.conf, for the path of a kubeconfig.
// Here one private file of the process takes its place, whatever lies in /etc:
// every configuration that reaches upstream names it as configuration_path. A
// log_file, log_level, kubernetes or configuration_path of the user's own is
// taken out before upstream sees it, however it is spelled: the first opens any
// path for writing, the others change the process. Nothing else of a
// configuration is changed.
//
// With node slices the plugin asks for its node's name: the variable NODENAME,
// else the file nodename in configuration_path's folder. A variable belongs to
// the process, and two plugins of two nodes are one process here; the file is
// an argument of each call. So the variable is removed, once, and every node has
// a folder with such a file, as a node where Whereabouts was installed has. The
// daemons, which have the variable in their manifests, are given the name.
//
// # What is not simulated
//
// The cron inside the ip-reconciler's daemon: a scenario's schedule starts the
// passes. Reading a kubeconfig: clients are built over the actor's door, with
// the limits that the real ones have by default (5 requests a second, burst 10,
// for each API group, as upstream sets none).
package whereabouts
