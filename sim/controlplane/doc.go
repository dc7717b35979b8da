// Package controlplane runs Kubernetes' own kube-controller-manager and kube-scheduler, each
// as one simulated process: the unmodified controllers, with one client each, over one
// informer factory, and the unmodified scheduler with its default profile, configured by
// flags. Several instances of one program elect a leader. Each read, watch and write is a
// message at the process's gate.
//
// Differences from a real cluster: a single instance runs without leader election, Events are
// not recorded, discovery sends no message, and a node's Lease is as fresh as its kubelet,
// without a message. Metrics of work queues are off. Feature gates are those of the release.
//
// Informers send and receive the same messages, with the faults that clients see, but the
// messages carry objects instead of bytes (kube.Objects). A list and watch in one stream
// (WatchListClient) begins with one message, and a watch that times out is renewed without a
// message.
package controlplane
