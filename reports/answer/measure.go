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

// Measure is a quantity of a trial, and of a cell over its trials.
type Measure struct {
	Name   string `json:"name"` // in plans and in files
	Title  string `json:"title"`
	Unit   Unit   `json:"unit"`
	Better Better `json:"better,omitempty"`
	Over   Over   `json:"over"`
	Doc    string `json:"doc"`

	Head  string `json:"-"` // of a column, in one line or two
	When  When   `json:"-"`
	words string // "it has the fewest …"
	// aside: it is in tables only; another measure is nearly the same.
	aside bool
	Fine  bool `json:"-"` // in files only, not on a terminal or a page
	Real  bool `json:"-"` // only the real code measures it
	some  bool // only for managers that list it in Manager.With
	// of returns the value of one trial: NaN if it has none, infinite for a time beyond the
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

// Better is the direction in which a measure is better.
type Better string

// The directions; "" is neither.
const (
	Less Better = "less"
	More Better = "more"
)

// Over is how a measure summarizes many trials.
type Over string

const (
	// OverChance: the share of trials in which it happened, with Clopper and Pearson's
	// band of 95 %.
	OverChance Over = "chance"
	// OverMean: the mean, with a band of 95 % by Student's t.
	OverMean Over = "mean"
	// OverMedian: the median, and the quartiles in place of a band. Trials in
	// which it did not happen before the horizon count as later.
	OverMedian Over = "median"
)

// When is how a measure summarizes the samples of one trial; "" if it is one value.
type When string

const (
	AtWorst   When = "at worst"
	OnAverage When = "on average"
)

// Column returns the head of a measure's column on one line, also its name in sentences.
func (m *Measure) Column() string { return strings.ReplaceAll(m.Head, "\n", " ") }

// Measures returns all measures, the most important first.
func Measures() []Measure {
	return []Measure{
		{Name: "exhaustion", Title: "Exhaustion probability", Unit: Share, Better: Less, Over: OverChance, Head: "exhaustion\nprobability", words: "it runs out of addresses least often",
			Doc: "Whether an ADD was refused before the horizon because the node had no free address.", of: exhausted},
		{Name: "timeToExhaustion", Title: "Time to exhaustion", Unit: Days, Better: More, Over: OverMedian, Head: "after", words: "it lasts longest",
			Doc: "When an ADD was refused for the first time.", aside: true, of: timeToExhaustion},
		{Name: "refused", Title: "Refused ADDs", Unit: Adds, Better: Less, Over: OverMean, Head: "refused\nADDs", words: "it refuses the fewest ADDs",
			Doc: "ADDs refused because no address was free, over the whole horizon, including retries.", Fine: true, aside: true,
			of: func(_ *Trials, l *capacity.Course) float64 { return float64(l.Refused) }},
		{Name: "waiting", Title: "Pods without an address", Unit: Pods, Better: Less, Over: OverMean, When: AtWorst, Head: "pods without\nan address", words: "it has the fewest pods without an address",
			Doc: "Pods that are bound to a node and have no address: the maximum over time.", of: most(func(s *capacity.Sample) float64 { return float64(s.Waiting) })},
		{Name: "unplaced", Title: "Pods without a node", Unit: Pods, Better: Less, Over: OverMean, When: OnAverage, Head: "pods\nunplaced", words: "it leaves the fewest pods without a node",
			Doc: "Pods that fit on no node because of maxPods: the mean over time.", of: average(func(_ *Trials, s *capacity.Sample) float64 { return float64(s.Unplaced) })},
		{Name: "unplacedMax", Title: "Pods without a node at worst", Unit: Pods, Better: Less, Over: OverMean, When: AtWorst, Head: "unplaced\nat worst", words: "it leaves the fewest pods without a node at worst",
			Doc: "Pods that fit on no node: the maximum over time.", Fine: true, aside: true, of: most(func(s *capacity.Sample) float64 { return float64(s.Unplaced) })},
		{Name: "starved", Title: "Nodes without a block", Unit: Nodes, Better: Less, Over: OverMean, When: AtWorst, Head: "nodes without\na block", words: "it has the fewest nodes without a block",
			Doc: "Nodes that are up, have no block and find none to claim: the maximum over time.", of: most(func(s *capacity.Sample) float64 { return float64(s.Starved) })},
		{Name: "blackholed", Title: "Blackholed pairs", Unit: Pairs, Better: Less, Over: OverMean, When: AtWorst, Head: "blackholed", words: "it has the fewest blackholed pairs",
			Doc: "Pairs of a node and a live address that it cannot reach: the maximum over time.", of: most(func(s *capacity.Sample) float64 { return float64(s.Blackholed) })},
		{Name: "blackholedHours", Title: "Blackholed pair-hours", Unit: PairHours, Better: Less, Over: OverMean, Head: "pair-hours", words: "its pairs are blackholed for the shortest time",
			Doc: "The sum over blackholed pairs of their hours, over the horizon.", Fine: true, aside: true, of: blackholedHours},
		{Name: "borrowed", Title: "Borrowed addresses", Unit: Addresses, Better: Less, Over: OverMean, When: AtWorst, Head: "borrowed", words: "it borrows the fewest addresses",
			Doc: "Addresses that are used on another node than their block's: the maximum over time.", of: most(func(s *capacity.Sample) float64 { return float64(s.Borrowed) })},
		{Name: "leaked", Title: "Leaked addresses", Unit: Addresses, Better: Less, Over: OverMean, When: OnAverage, Head: "leaked", words: "it leaks the fewest addresses",
			Doc: "Addresses claimed without a live sandbox: the mean over time.", of: average(func(_ *Trials, s *capacity.Sample) float64 { return float64(s.Leaked) })},
		{Name: "leakedMax", Title: "Leaked addresses at worst", Unit: Addresses, Better: Less, Over: OverMean, When: AtWorst, Head: "leaked\nat worst", words: "it leaks the fewest addresses at worst",
			Doc: "Leaked addresses: the maximum over time.", Fine: true, aside: true, of: most(func(s *capacity.Sample) float64 { return float64(s.Leaked) })},
		{Name: "routes", Title: "Routes", Unit: Prefixes, Better: Less, Over: OverMean, When: AtWorst, Head: "routes", words: "it announces the fewest routes",
			Doc: "Prefixes that nodes announce, which are blocks and borrowed addresses: the maximum over time.", of: most(func(s *capacity.Sample) float64 { return float64(s.Routes) })},
		{Name: "waste", Title: "Waste", Unit: Share, Better: Less, Over: OverMean, When: OnAverage, Head: "waste", words: "it wastes the fewest addresses",
			Doc: "The share of addresses in blocks that are unused or leaked; without blocks, the share of all addresses. The mean over time.", of: average(func(c *Trials, s *capacity.Sample) float64 { return s.Waste(c.BlockSize) })},
		{Name: "nodePorts", Title: "Node ports", Unit: Ports, Better: Less, Over: OverMean, When: AtWorst, Head: "node\nports", words: "it takes the fewest node ports",
			Doc: "Node ports of Services: the maximum over time.", some: true, aside: true, of: most(func(s *capacity.Sample) float64 { return float64(s.NodePorts) })},
		{Name: "inBand", Title: "Allocated from the static band", Unit: Addresses, Better: Less, Over: OverMean, When: AtWorst, Head: "of the\nstatic band", words: "it allocates the fewest addresses from the static band",
			Doc:  "Addresses of the static band, reserved for Services that request an address, that Services without a request have: the maximum over time. A Service that requests one of them is refused.",
			some: true, of: most(func(s *capacity.Sample) float64 { return float64(s.InBand) })},
		{Name: "blackholedIPv6", Title: "Blackholed pairs in IPv6", Unit: Pairs, Better: Less, Over: OverMean, When: AtWorst, Head: "IPv6\nblackholed", words: "it has the fewest blackholed pairs in IPv6",
			Doc: "Blackholed pairs with an IPv6 address, if pods are dual-stack.", aside: true, of: ofSix(most, func(p *capacity.Part) float64 { return float64(p.Blackholed) })},
		{Name: "routesIPv6", Title: "IPv6 routes", Unit: Prefixes, Better: Less, Over: OverMean, When: AtWorst, Head: "IPv6\nroutes", words: "it announces the fewest IPv6 routes",
			Doc: "IPv6 routes, if pods are dual-stack.", aside: true, of: ofSix(most, func(p *capacity.Part) float64 { return float64(p.Routes) })},
		{Name: "wasteIPv6", Title: "Waste in IPv6", Unit: Share, Better: Less, Over: OverMean, When: OnAverage, Head: "IPv6\nwaste", words: "it wastes the fewest IPv6 addresses",
			Doc: "The share of addresses in IPv6 blocks that are not claimed, if pods are dual-stack: the mean over time.", aside: true,
			of: ofSix(mean, (*capacity.Part).Waste)},
		{Name: "stranded", Title: "Stranded addresses", Unit: Addresses, Better: Less, Over: OverMean, When: OnAverage, Head: "stranded", words: "it strands the fewest addresses",
			Doc: "Free addresses that the policy does not allow the average node to use: the mean over time.", of: average(func(_ *Trials, s *capacity.Sample) float64 { return s.Stranded })},
		{Name: "utilisation", Title: "Utilisation", Unit: Share, Over: OverMean, When: OnAverage, Head: "in\nuse", words: "it uses the fewest addresses",
			Doc: "The share of all addresses that are claimed: the mean over time.", Fine: true, aside: true, of: average(func(_ *Trials, s *capacity.Sample) float64 { return ratio(float64(s.InUse), float64(s.Size)) })},
		{Name: "utilisationPeak", Title: "Utilisation at its peak", Unit: Share, Over: OverMean, When: AtWorst, Head: "peak\nuse", words: "it uses the fewest addresses at its peak",
			Doc: "The share of all addresses that are claimed: the maximum over time.", aside: true, of: utilisationPeak},
		{Name: "blocksPerNode", Title: "Blocks of one node", Unit: Blocks, Better: Less, Over: OverMean, When: AtWorst, Head: "blocks\na node", words: "its nodes have the fewest blocks",
			Doc: "Blocks of one node: the maximum over nodes and time.", of: most(func(s *capacity.Sample) float64 { return float64(s.BlocksMax) })},
		{Name: "stale", Title: "Stale affinities", Unit: Affinities, Better: Less, Over: OverMean, When: AtWorst, Head: "stale", words: "it keeps the fewest affinities of deleted nodes",
			Doc: "Affinities of deleted nodes: the maximum over time.", of: most(func(s *capacity.Sample) float64 { return float64(s.Stale) })},
		{Name: "unfinished", Title: "Migration unfinished", Unit: Share, Better: Less, Over: OverChance, Head: "migration\nunfinished", words: "its migration finishes most often",
			Doc: "Whether the migration from the running cluster to the option did not finish before the horizon.", Fine: true, aside: true, of: unfinished},
		{Name: "calls", Title: "Requests for each ADD", Unit: Requests, Better: Less, Over: OverMean, Head: "calls\nper ADD", words: "it sends the fewest requests",
			Doc: "Requests to the datastore, from all processes, divided by ADDs.", Real: true,
			of: func(_ *Trials, l *capacity.Course) float64 { return known(ratio(float64(l.Calls), float64(l.Adds))) }},
		{Name: "addMedian", Title: "Time of an ADD, median", Unit: Milliseconds, Better: Less, Over: OverMean, Head: "ADD\nmedian", words: "its ADDs are fastest",
			Doc: "The median duration of an ADD.", aside: true, Real: true,
			of: func(_ *Trials, l *capacity.Course) float64 { return known(milliseconds(l.AddMedian)) }},
		{Name: "addP99", Title: "Time of an ADD, 99th percentile", Unit: Milliseconds, Better: Less, Over: OverMean, Head: "ADD\np99", words: "its slowest ADDs are fastest",
			Doc: "The 99th percentile of the duration of an ADD.", aside: true, Real: true,
			of: func(_ *Trials, l *capacity.Course) float64 { return known(milliseconds(l.AddP99)) }},
		{Name: "violations", Title: "Violations", Unit: Violations, Better: Less, Over: OverMean, Head: "violations", words: "it violates the fewest invariants",
			Doc: "Violations of all invariants by the real code.", aside: true, Real: true, of: violations},
	}
}

// Bounded returns an error if the measure of this name cannot be required or minimised, or if
// most is not a possible value of it. The error lists the measures or values allowed.
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
	return fmt.Errorf("%q cannot be bounded; want one of %s", name, strings.Join(names, ", "))
}

// unfinished returns 1 if the migration did not finish in time to be judged.
func unfinished(_ *Trials, l *capacity.Course) float64 {
	switch {
	case l.Migration == nil:
		return math.NaN()
	case len(l.Judged()) == 0:
		return 1
	}
	return 0
}

// reaches returns an error if most is not a possible value of the measure.
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

// blackholedHours assumes that a sample holds until the next one.
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
	if l.Since == 0 { // otherwise the peak may be before Since
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

// most returns the maximum over all samples.
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

// average returns the mean of all samples, which are equidistant.
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

// ofSix measures the IPv6 part; NaN if pods have addresses of one family only.
func ofSix(over func(func(*capacity.Sample) float64) func(*Trials, *capacity.Course) float64, of func(*capacity.Part) float64) func(*Trials, *capacity.Course) float64 {
	all := over(func(s *capacity.Sample) float64 { return of(&s.Six) })
	return func(c *Trials, l *capacity.Course) float64 {
		if !slices.ContainsFunc(l.Samples, func(s capacity.Sample) bool { return s.Six != capacity.Part{} }) {
			return math.NaN()
		}
		return all(c, l)
	}
}

// ratio returns NaN if all is 0.
func ratio(part, all float64) float64 {
	if all == 0 {
		return math.NaN()
	}
	return part / all
}

// known returns NaN for 0, which means not measured.
func known(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func days(d time.Duration) float64 { return d.Hours() / 24 }
