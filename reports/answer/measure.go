package answer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ipamsim/model/capacity"
)

// Measure is one thing that is told of a life, and of a cell over its lives.
type Measure struct {
	Name   string `json:"name"` // in want: and in files
	Title  string `json:"title"`
	Unit   Unit   `json:"unit"`
	Better Better `json:"better,omitempty"`
	Over   Over   `json:"over"`
	Doc    string `json:"doc"`

	Head  string `json:"-"` // of a column, in one line or two
	When  When   `json:"-"`
	words string // "of those it has the fewest …"
	// aside: it is told in tables, and not in sentences: another says nearly the same.
	aside bool
	Fine  bool `json:"-"` // it is told in files, and not on a terminal or a page
	Real  bool `json:"-"` // only the real code knows it
	some  bool // only of managers that say so: see Manager.With
	// of one life; not a number if that does not tell, infinite for a time beyond the
	// horizon.
	of func(c *Trials, l *capacity.Course) float64
}

// Unit of a measure's values.
type Unit string

// The units. Shares are 0 to 1, and days and milliseconds may have a fraction.
const (
	Share        Unit = "share"
	Days         Unit = "days"
	Milliseconds Unit = "ms"
	Addresses    Unit = "addresses"
	Blocks       Unit = "blocks"
	Nodes        Unit = "nodes"
	Pods         Unit = "pods"
	Pairs        Unit = "pairs"
	PairHours    Unit = "pair-hours"
	Prefixes     Unit = "prefixes"
	Affinities   Unit = "affinities"
	Adds         Unit = "ADDs"
	Requests     Unit = "requests"
	Ports        Unit = "ports"
	Violations   Unit = "violations"
)

// Better says which way a measure is better.
type Better string

// The ways; "" is neither.
const (
	Less Better = "less"
	More Better = "more"
)

// Over says what is told of many lives.
type Over string

const (
	// OverChance: the share of lives in which it happened, with Clopper and Pearson's
	// band of 95 %.
	OverChance Over = "chance"
	// OverMean: the mean, with a band of 95 % by Student's t.
	OverMean Over = "mean"
	// OverMedian: the median, and the quartiles in place of a band. Lives in which it
	// did not happen before the horizon count as later ones.
	OverMedian Over = "median"
)

// When says which of one life's times is told; "" where there is nothing to choose.
type When string

const (
	AtWorst   When = "at worst"
	OnAverage When = "on average"
)

// Column is the head of a measure's column in one line, which is what sentences call
// it, too.
func (m *Measure) Column() string { return strings.ReplaceAll(m.Head, "\n", " ") }

// Measures are all there are, what matters most first.
func Measures() []Measure {
	return []Measure{
		{Name: "exhaustion", Title: "Exhaustion probability", Unit: Share, Better: Less, Over: OverChance, Head: "exhaustion\nprobability", words: "it runs out of addresses most rarely",
			Doc: "Whether, before the horizon, an ADD was refused because no address was left that the node may hand out.", of: exhausted},
		{Name: "timeToExhaustion", Title: "Time to exhaustion", Unit: Days, Better: More, Over: OverMedian, Head: "after", words: "it lasts longest",
			Doc: "When an ADD was refused for the first time.", aside: true, of: timeToExhaustion},
		{Name: "refused", Title: "Refused ADDs", Unit: Adds, Better: Less, Over: OverMean, Head: "refused\nADDs", words: "it refuses the fewest ADDs",
			Doc: "ADDs refused for want of an address over the whole horizon, repeated ones included.", Fine: true, aside: true,
			of: func(_ *Trials, l *capacity.Course) float64 { return float64(l.Refused) }},
		{Name: "waiting", Title: "Pods without an address", Unit: Pods, Better: Less, Over: OverMean, When: AtWorst, Head: "pods without\nan address", words: "it has the fewest pods without an address",
			Doc: "The most pods at any time that are bound to a node and have no address.", of: most(func(s *capacity.Sample) float64 { return float64(s.Waiting) })},
		{Name: "unplaced", Title: "Pods without a node", Unit: Pods, Better: Less, Over: OverMean, When: OnAverage, Head: "pods\nunplaced", words: "it leaves the fewest pods without a node",
			Doc: "Pods that no node has room for, since a kubelet takes only so many: the mean over time.", of: average(func(_ *Trials, s *capacity.Sample) float64 { return float64(s.Unplaced) })},
		{Name: "unplacedMax", Title: "Pods without a node at worst", Unit: Pods, Better: Less, Over: OverMean, When: AtWorst, Head: "unplaced\nat worst", words: "it leaves the fewest pods without a node at worst",
			Doc: "The most pods at any time that no node has room for.", Fine: true, aside: true, of: most(func(s *capacity.Sample) float64 { return float64(s.Unplaced) })},
		{Name: "starved", Title: "Nodes without a block", Unit: Nodes, Better: Less, Over: OverMean, When: AtWorst, Head: "nodes without\na block", words: "it has the fewest nodes without a block",
			Doc: "The most nodes at any time that are up, without a block, and without one left to claim.", of: most(func(s *capacity.Sample) float64 { return float64(s.Starved) })},
		{Name: "blackholed", Title: "Blackholed pairs", Unit: Pairs, Better: Less, Over: OverMean, When: AtWorst, Head: "blackholed", words: "it has the fewest blackholed pairs",
			Doc: "The most pairs at any time of a node and a live address that it cannot reach.", of: most(func(s *capacity.Sample) float64 { return float64(s.Blackholed) })},
		{Name: "blackholedHours", Title: "Blackholed pair-hours", Unit: PairHours, Better: Less, Over: OverMean, Head: "pair-hours", words: "its pairs are blackholed for the shortest time",
			Doc: "Blackholed pairs times the hours for which they were, over the horizon.", Fine: true, aside: true, of: blackholedHours},
		{Name: "borrowed", Title: "Borrowed addresses", Unit: Addresses, Better: Less, Over: OverMean, When: AtWorst, Head: "borrowed", words: "it borrows the fewest addresses",
			Doc: "The most addresses at any time that are used on another node than their block's.", of: most(func(s *capacity.Sample) float64 { return float64(s.Borrowed) })},
		{Name: "leaked", Title: "Leaked addresses", Unit: Addresses, Better: Less, Over: OverMean, When: OnAverage, Head: "leaked", words: "it leaks the fewest addresses",
			Doc: "Addresses claimed for a sandbox that is no more, or for nobody: the mean over time.", of: average(func(_ *Trials, s *capacity.Sample) float64 { return float64(s.Leaked) })},
		{Name: "leakedMax", Title: "Leaked addresses at worst", Unit: Addresses, Better: Less, Over: OverMean, When: AtWorst, Head: "leaked\nat worst", words: "it leaks the fewest addresses at worst",
			Doc: "The most leaked addresses at any time.", Fine: true, aside: true, of: most(func(s *capacity.Sample) float64 { return float64(s.Leaked) })},
		{Name: "routes", Title: "Routes", Unit: Prefixes, Better: Less, Over: OverMean, When: AtWorst, Head: "routes", words: "it announces the fewest routes",
			Doc: "The most prefixes that nodes announce at any time: blocks and borrowed addresses.", of: most(func(s *capacity.Sample) float64 { return float64(s.Routes) })},
		{Name: "waste", Title: "Waste", Unit: Share, Better: Less, Over: OverMean, When: OnAverage, Head: "waste", words: "it wastes the fewest addresses",
			Doc: "The share of the addresses in blocks that nobody uses, or of all where there are no blocks; what has leaked is nobody's. The mean over time.", of: average(func(c *Trials, s *capacity.Sample) float64 { return s.Waste(c.BlockSize) })},
		{Name: "nodePorts", Title: "Node ports", Unit: Ports, Better: Less, Over: OverMean, When: AtWorst, Head: "node\nports", words: "it takes the fewest node ports",
			Doc: "The most node ports at any time that Services have.", some: true, aside: true, of: most(func(s *capacity.Sample) float64 { return float64(s.NodePorts) })},
		{Name: "inBand", Title: "Handed out of the static band", Unit: Addresses, Better: Less, Over: OverMean, When: AtWorst, Head: "of the\nstatic band", words: "it hands out the fewest addresses of the static band",
			Doc:  "The most addresses at any time that Services have which asked for none, of those that are kept for Services that ask for a certain one: such a Service may be refused then.",
			some: true, of: most(func(s *capacity.Sample) float64 { return float64(s.InBand) })},
		{Name: "blackholedIPv6", Title: "Blackholed pairs in IPv6", Unit: Pairs, Better: Less, Over: OverMean, When: AtWorst, Head: "IPv6\nblackholed", words: "it has the fewest blackholed pairs in IPv6",
			Doc: "Of the blackholed pairs, those of an IPv6 address, where pods have addresses of both families.", aside: true, of: ofSix(most, func(p *capacity.Part) float64 { return float64(p.Blackholed) })},
		{Name: "routesIPv6", Title: "IPv6 routes", Unit: Prefixes, Better: Less, Over: OverMean, When: AtWorst, Head: "IPv6\nroutes", words: "it announces the fewest IPv6 routes",
			Doc: "Of the routes, those of IPv6, where pods have addresses of both families.", aside: true, of: ofSix(most, func(p *capacity.Part) float64 { return float64(p.Routes) })},
		{Name: "wasteIPv6", Title: "Waste in IPv6", Unit: Share, Better: Less, Over: OverMean, When: OnAverage, Head: "IPv6\nwaste", words: "it wastes the fewest IPv6 addresses",
			Doc: "The share of the addresses in IPv6 blocks that nobody has claimed, where pods have addresses of both families: the mean over time.", aside: true,
			of: ofSix(mean, (*capacity.Part).Waste)},
		{Name: "stranded", Title: "Stranded addresses", Unit: Addresses, Better: Less, Over: OverMean, When: OnAverage, Head: "stranded", words: "it strands the fewest addresses",
			Doc: "Free addresses that the average node could not be given under the policy: the mean over time.", of: average(func(_ *Trials, s *capacity.Sample) float64 { return s.Stranded })},
		{Name: "utilisation", Title: "Utilisation", Unit: Share, Over: OverMean, When: OnAverage, Head: "in\nuse", words: "it uses the fewest addresses",
			Doc: "The share of all addresses that is claimed: the mean over time.", Fine: true, aside: true, of: average(func(_ *Trials, s *capacity.Sample) float64 { return ratio(float64(s.InUse), float64(s.Size)) })},
		{Name: "utilisationPeak", Title: "Utilisation at its peak", Unit: Share, Over: OverMean, When: AtWorst, Head: "peak\nuse", words: "it uses the fewest addresses at its peak",
			Doc: "The most addresses claimed at any time, as a share of all.", aside: true, of: utilisationPeak},
		{Name: "blocksPerNode", Title: "Blocks of one node", Unit: Blocks, Better: Less, Over: OverMean, When: AtWorst, Head: "blocks\na node", words: "its nodes have the fewest blocks",
			Doc: "The most blocks that one node has at any time.", of: most(func(s *capacity.Sample) float64 { return float64(s.BlocksMax) })},
		{Name: "stale", Title: "Stale affinities", Unit: Affinities, Better: Less, Over: OverMean, When: AtWorst, Head: "stale", words: "it keeps the fewest affinities of nodes that are no more",
			Doc: "The most affinities at any time of nodes that are no more.", of: most(func(s *capacity.Sample) float64 { return float64(s.Stale) })},
		{Name: "unfinished", Title: "Not carried out", Unit: Share, Better: Less, Over: OverChance, Head: "not\ncarried out", words: "it is carried out most surely",
			Doc: "Whether the way to the option, from the cluster that runs at the beginning, did not end before the horizon.", Fine: true, aside: true, of: unfinished},
		{Name: "calls", Title: "Requests for each ADD", Unit: Requests, Better: Less, Over: OverMean, Head: "calls\nper ADD", words: "it asks the datastore least",
			Doc: "Requests that reached the datastore, whoever made them, for each ADD.", Real: true,
			of: func(_ *Trials, l *capacity.Course) float64 { return known(ratio(float64(l.Calls), float64(l.Adds))) }},
		{Name: "addMedian", Title: "Time of an ADD, median", Unit: Milliseconds, Better: Less, Over: OverMean, Head: "ADD\nmedian", words: "its ADDs are fastest",
			Doc: "How long an ADD takes at the median.", aside: true, Real: true,
			of: func(_ *Trials, l *capacity.Course) float64 { return known(milliseconds(l.AddMedian)) }},
		{Name: "addP99", Title: "Time of an ADD, 99th percentile", Unit: Milliseconds, Better: Less, Over: OverMean, Head: "ADD\np99", words: "its slowest ADDs are fastest",
			Doc: "How long the slowest of 100 ADDs takes.", aside: true, Real: true,
			of: func(_ *Trials, l *capacity.Course) float64 { return known(milliseconds(l.AddP99)) }},
		{Name: "violations", Title: "Violations", Unit: Violations, Better: Less, Over: OverMean, Head: "violations", words: "it violates the fewest invariants",
			Doc: "Violations of all invariants that the real code was seen to make.", aside: true, Real: true, of: violations},
	}
}

// Bounded says whether a measure of this name can be required or minimised, and
// whether it can be as much as most, or less. The error names those that can, or what
// most has to be.
func Bounded(name string, most float64) error {
	var names []string
	for _, m := range Measures() {
		if m.Better != Less {
			continue
		}
		if m.Name == name {
			return m.reaches(most)
		}
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return fmt.Errorf("%q is no measure that can be bounded; want one of %s", name, strings.Join(names, ", "))
}

// unfinished is whether the way to an option did not end in time to be judged.
func unfinished(_ *Trials, l *capacity.Course) float64 {
	switch {
	case l.Migration == nil:
		return math.NaN()
	case len(l.Judged()) == 0:
		return 1
	}
	return 0
}

// reaches says why a measure can never be more than most, or never be as little.
func (m *Measure) reaches(most float64) error {
	switch {
	case most < 0:
		return errors.New("it is never less than 0: want a bound of 0 or more")
	case m.Unit == Share && most > 1:
		return fmt.Errorf("it is never more than 1: want 0 to 1, e.g. %g for %g %%", min(most/100, 1), min(most, 100))
	}
	return nil
}

func exhausted(_ *Trials, l *capacity.Course) float64 {
	if l.Since == capacity.Never {
		return math.NaN()
	}
	if l.Exhausted == capacity.Never {
		return 0
	}
	return 1
}

func timeToExhaustion(_ *Trials, l *capacity.Course) float64 {
	if l.Since == capacity.Never {
		return math.NaN()
	}
	if l.Exhausted == capacity.Never {
		return math.Inf(1)
	}
	return days(l.Exhausted)
}

// blackholedHours takes what a sample says to hold until the next one.
func blackholedHours(_ *Trials, l *capacity.Course) float64 {
	all := l.Judged()
	if len(all) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for i := 1; i < len(all); i++ {
		sum += float64(all[i-1].Blackholed) * (all[i].At - all[i-1].At).Hours()
	}
	return sum
}

func utilisationPeak(_ *Trials, l *capacity.Course) float64 {
	size, peak := 0, 0
	for _, s := range l.Judged() {
		size, peak = max(size, s.Size), max(peak, s.InUse)
	}
	if l.Since == 0 { // otherwise the peak may be of the time before
		peak = l.Peak
	}
	return ratio(float64(peak), float64(size))
}

func violations(_ *Trials, l *capacity.Course) float64 {
	sum := 0
	for _, n := range l.Violations {
		sum += n
	}
	return float64(sum)
}

// most is the largest value at any sample.
func most(of func(*capacity.Sample) float64) func(*Trials, *capacity.Course) float64 {
	return func(_ *Trials, l *capacity.Course) float64 {
		all := l.Judged()
		if len(all) == 0 {
			return math.NaN()
		}
		v := of(&all[0])
		for i := range all {
			v = max(v, of(&all[i]))
		}
		return v
	}
}

// average is the mean of all samples, which are at equal distances.
func average(of func(*Trials, *capacity.Sample) float64) func(*Trials, *capacity.Course) float64 {
	return func(c *Trials, l *capacity.Course) float64 {
		all, sum := l.Judged(), 0.0
		for i := range all {
			sum += of(c, &all[i])
		}
		return ratio(sum, float64(len(all)))
	}
}

// mean is average without the cell.
func mean(of func(*capacity.Sample) float64) func(*Trials, *capacity.Course) float64 {
	return average(func(_ *Trials, s *capacity.Sample) float64 { return of(s) })
}

// ofSix is of IPv6's part; not a number of a cluster whose pods have addresses of one
// family.
func ofSix(over func(func(*capacity.Sample) float64) func(*Trials, *capacity.Course) float64, of func(*capacity.Part) float64) func(*Trials, *capacity.Course) float64 {
	all := over(func(s *capacity.Sample) float64 { return of(&s.Six) })
	return func(c *Trials, l *capacity.Course) float64 {
		if !slices.ContainsFunc(l.Samples, func(s capacity.Sample) bool { return s.Six != capacity.Part{} }) {
			return math.NaN()
		}
		return all(c, l)
	}
}

// ratio is not a number where there is nothing to divide by.
func ratio(part, all float64) float64 {
	if all == 0 {
		return math.NaN()
	}
	return part / all
}

// known is a value of which zero says that nobody measured it.
func known(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func days(d time.Duration) float64 { return d.Hours() / 24 }
