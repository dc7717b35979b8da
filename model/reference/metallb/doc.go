// Package metallb is what MetalLB's documentation and source say that Services of type
// LoadBalancer may have: whether a controller that started now would let each keep its
// addresses, and how many it could give to one that has none. It is a judge and no
// allocator: which of several addresses a Service gets it leaves to upstream.
//
// None of upstream's code is here, so that a controller with a mistake in it is judged by
// another one than itself. TestConformanceJudge in sim/ipam/metallb holds the two against each other.
//
// Source: go.universe.tf/metallb v0.16.2; its documentation is website/content, its fields'
// that of api/v1beta1.
package metallb
