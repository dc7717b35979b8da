// Package sim is the kernel of the simulator. It provides a bubble of goroutines on a virtual
// clock; actors, each one simulated operating-system process; the gate, which every
// message of an actor must pass; and the schedule, a list of small integers that decides which
// parked message goes next, which message gets a fault, and when time passes.
//
// The package does not depend on Kubernetes, etcd or address management.
//
// The only scheduling points are the messages that leave an actor.
package sim
