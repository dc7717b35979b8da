// Package whereabouts runs the real Whereabouts in the simulation: its CNI plugin and
// its node-slice controller from their main functions, a pass of the ip-reconciler
// from ReconcileIPs, the pod control loop from the constructor of its controller. They
// are copies of upstream's files in which only imports differ (copies.txt).
//
// # The environment of Whereabouts
//
// Every node is a simulated host (sim/ipam/platform) with the files that upstream's
// installer leaves on one: whereabouts.conf, nodename, and /etc/hostname. A daemon has
// the variables of its manifest. The log_file and log_level of a network have no effect, its
// configuration_path is read from the simulated host, and every kubeconfig leads to the API
// server of the run. Nothing on the real machine is read or written.
//
// Clients have the limits that the real ones have by default (5 requests a second,
// burst 10, for each API group, as upstream sets none), and only the groups that
// upstream uses.
//
// # What is not simulated
//
// The cron inside the ip-reconciler's daemon: a scenario's schedule starts the
// passes. Signals: a process that ends is killed, with all of its goroutines.
package whereabouts
