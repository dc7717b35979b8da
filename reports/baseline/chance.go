package baseline

import (
	"math"

	"ipamsim/model/invariant"
)

// What chance explains. The same code under another seed, or with one message more,
// meets other latencies: a race that was hit is missed, and the other way round.
const (
	// surely: chance alone does it less often than this. There are some hundreds of
	// comparisons in a gate whose runs all take another course.
	surely = 1e-4
	// gone: with which probability a violation that still is as likely as before is
	// called gone. That is told in green where upstream is another one.
	gone = 0.01
	// rare: what is seen in so few of the runs now may have been as frequent before
	// and missed.
	rare = 0.02
)

// maybe: a violation that was never seen before, in k of n runs, may be one that was
// as rare before. One that a change brings is in most of them. A panic or a hang is not
// rare because of a race.
func maybe(name string, k, n int) bool {
	if inv, _ := invariant.Named(name); inv.Fatal {
		return false
	}
	return n > Seeds && (k < 2 || float64(k) <= rare*float64(n))
}

// More is how likely chance alone gives at least k hits in n runs if it gave h in
// others: Fisher's exact test, one-sided.
func More(k, n, h, others int) float64 {
	all, hits := n+others, k+h
	p := 0.0
	for i := k; i <= min(n, hits); i++ {
		if hits-i > others {
			continue
		}
		p += math.Exp(choose(n, i) + choose(others, hits-i) - choose(all, hits))
	}
	return min(1, p)
}

// none is how likely n runs miss what was hit h times in others.
func none(n, h, others int) float64 {
	if others == 0 {
		return 1
	}
	return math.Pow(1-float64(h)/float64(others), float64(n))
}

// choose is the logarithm of n over k.
func choose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
