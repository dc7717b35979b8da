// Package metallb computes which addresses Services of type LoadBalancer may have, according to
// MetalLB's documentation and source: whether a controller that started now would let each Service
// keep its addresses, and how many it could assign to a Service without one. It does not choose an
// address: that is left to upstream.
//
// It contains none of upstream's code, so that an error in the controller does not hide itself.
// TestConformanceJudge in sim/ipam/metallb compares the two.
//
// Source: go.universe.tf/metallb v0.16.2; its documentation is website/content, that of its fields
// api/v1beta1.
package metallb
