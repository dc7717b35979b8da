package baseline

import (
	"math"

	"ipamsim/model/invariant"
)

// Significance levels. The same code with another seed, or with one more message, has other
// latencies, so it may hit a race that it missed, or miss one that it hit.
const (
	// surely is the significance level of a regression. A gate in which all runs differ makes
	// some hundreds of comparisons.
	surely = 1e-4
	// gone is the probability that a violation of unchanged frequency is reported as gone,
	// which is green if upstream differs.
	gone = 0.01
	// rare: a violation in so few runs may have been as frequent before and missed.
	rare = 0.02
)

// maybe reports whether a new violation in k of n runs may have been as rare before. A violation
// that a change causes is in most of them. A panic or a hang is not rare because of a race.
func maybe(name string, k, n int) bool {
	if inv, _ := invariant.Named(name); inv.Fatal {
		return false
	}
	return n > Seeds && (k < 2 || float64(k) <= rare*float64(n))
}

// More returns the probability of at least k hits in n runs by chance, given h hits in the others:
// Fisher's exact test, one-sided.
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

// none returns the probability that n runs have no hit, given h hits in the others.
func none(n, h, others int) float64 {
	if others == 0 {
		return 1
	}
	return math.Pow(1-float64(h)/float64(others), float64(n))
}

// choose returns the logarithm of the binomial coefficient.
func choose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
