// Package controlplane is Kubernetes' own kube-controller-manager and kube-scheduler,
// each as one simulated process: the unmodified controllers, with one client each, over
// one informer factory, and the unmodified scheduler with its default profile, as flags
// have them. Several of one program elect a leader. Whatever they read, watch and write is
// a message at the process's gate.
//
// What is not as in a real cluster: one that is alone elects nobody, Events are not
// recorded, what the server serves is known without asking, and a node's Lease is as fresh
// as its kubelet is, without a message. Metrics of work queues are off. Feature gates are
// those of the release.
//
// Informers send and get the messages that they would, with the faults that clients see,
// but these carry objects instead of bytes (kube.Objects). What they list and watch in one
// stream (WatchListClient) begins with one message, and a watch whose time is up is
// renewed without one.
package controlplane
