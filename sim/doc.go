// Package sim is the kernel of the simulator: a bubble of goroutines on a
// virtual clock, actors (one simulated operating-system process each), the gate
// that every message of an actor must pass, and the schedule: the list of small
// integers that says which parked message goes next, which one is hurt, and when
// time may pass.
//
// It knows nothing of Kubernetes, of etcd or of address management.
//
// A message that leaves an actor is a scheduling point, and nothing else is.
package sim
