package campaign

import "time"

// A campaign of so much time over several scenarios gives more of it to those of which more is
// unseen. One of so many runs gives each its share, and one over a space runs the seeds in their
// order: each is another world, which is run once, so nothing is known of a world before it runs.

// promising is the source that is to run next: the one whose next second is likely to show
// most that nobody has seen. By Good and Turing its next run shows as many new kinds as one run
// of its own alone saw, divided by how many runs it had; so a second shows them divided by the time it
// had. Some more count as likely (unlucky), or a source with bad luck at first would not come again;
// and for what states do not show each source gets a part of what an equal share would be (leastPart).
//
// It depends on nothing but the log and what is under way.
func (c *coordinator) promising() int {
	spent := make([]time.Duration, len(c.Spec.Sources))
	for n := range spent {
		spent[n] = c.state.spent[n]
	}
	for _, s := range c.asked {
		if s.Kind == Explore {
			spent[s.Source] += shardTime
		}
	}
	var all time.Duration
	least, best, most := 0, 0, -1.0
	for n, d := range spent {
		all += d
		if d < spent[least] {
			least = n
		}
		once := c.state.states.Once(n) + c.state.allocators.Once(n) + unlucky
		if rate := float64(once) / max(d, 1).Seconds(); rate > most {
			best, most = n, rate
		}
	}
	if spent[least]*leastPart < all/time.Duration(len(spent)) || spent[least] == 0 {
		return least
	}
	return best
}

const (
	unlucky   = 3 // of what is likely to be seen, none is in one of twenty cases
	leastPart = 4 // of an equal share each source gets a fourth
)
