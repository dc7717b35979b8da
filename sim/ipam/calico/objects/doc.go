// Package objects writes and lists Calico's own objects (pools, settings, blocks, …) as
// operators do, through upstream's client, which checks them, and says in which field
// of a manifest a refusal is.
package objects
