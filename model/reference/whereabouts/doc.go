// Package whereabouts is a reference for Whereabouts 0.9.4: what the real code
// does, said again as plain functions, so that the two can be compared and
// clusters planned that are too large to simulate.
package whereabouts
