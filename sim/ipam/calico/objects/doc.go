// Package objects writes and lists Calico's own objects (pools, settings, blocks, …) as operators
// do, through upstream's client, which validates them. Its errors name the field of the manifest.
package objects
