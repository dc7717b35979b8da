package formats

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ipamsim/model/metric"
	"ipamsim/reports"
	"ipamsim/reports/layout"
)

// Metrics renders what a monitoring system would have recorded during a run: the first time of
// each value that an alert could watch, then a table of a few metrics at a few instants. It returns
// "" if nothing was sampled.
func Metrics(r *reports.Report) string {
	if len(r.Series.Instants()) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("metrics over time\n")
	signs := alarms(r.Series)
	for _, a := range signs {
		head := "  " + layout.Pad(sampledAt(a.at), timeWidth) + a.says + ":"
		if len(head)+1+utf8.RuneCountInString(a.shows) > proseWidth {
			head += "\n     "
		}
		b.WriteString(head + " " + layout.Cut(a.shows, proseWidth-6) + "\n")
	}
	if len(signs) > 0 {
		b.WriteByte('\n')
	}
	for _, line := range tableOf(r, signs) {
		b.WriteString("  " + strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// sampledAt rounds the time of a sample to seconds.
func sampledAt(at time.Duration) string {
	if at < time.Second {
		return layout.Clock(at)
	}
	return at.Round(time.Second).String()
}

// alarm is the first time at which a metric indicates a problem.
type alarm struct {
	at    time.Duration
	name  string // of the metric
	says  string
	shows string // the series and its value
}

// alarms returns the alarms of a run in the order of time.
func alarms(s *metric.Series) []alarm {
	some := func(v float64) bool { return v > 0 }
	none := func(v float64) bool { return v == 0 }
	var out []alarm
	for _, w := range []struct {
		name  string
		holds func(float64) bool
		says  string
	}{
		{metric.FreeBlocks, none, "no block is left in a pool"},
		{metric.StarvedNodes, some, "a node has no block, and none is left for it"},
		{metric.Borrowed, some, "the first borrowed address"},
		{metric.BlackholedPairs, some, "the first node that cannot reach a pod"},
		{metric.Leaked, some, "the first leaked address"},
		{metric.RangeLeaked, some, "the first leaked address"},
		{metric.Candidates, some, "the garbage collector has something to do"},
	} {
		parts := partsOf(s, w.name)
		for _, t := range parts { // each address family has a first time
			if at, ok := t.First(w.holds); ok {
				out = append(out, alarm{at, t.Name, w.says + ", " + t.Label("family"), shows(t, at)})
			}
		}
		if at, which := s.First(w.name, w.holds); which != nil && len(parts) == 0 {
			out = append(out, alarm{at, w.name, w.says, shows(which, at)})
		}
	}
	slices.SortStableFunc(out, func(a, b alarm) int { return int(min(max(a.at-b.at, -1), 1)) })
	return out
}

// shows renders a series and its value.
func shows(t *metric.Track, at time.Duration) string {
	v, _ := t.At(at)
	return fmt.Sprintf("%s is %s", reports.Clean(t.Key()), number(v))
}

// partsOf returns the series of a metric by address family; none if it has only one.
func partsOf(s *metric.Series, name string) (out []*metric.Track) {
	family := map[string]string{
		metric.BlackholedPairs: metric.BlackholedPairsPerFamily, metric.Blackholed: metric.BlackholedPerFamily,
		metric.NodesWithoutBlock: metric.NodesWithoutBlockPerFamily, metric.StarvedNodes: metric.StarvedNodesPerFamily,
	}[name]
	for _, t := range s.Tracks() {
		if t.Name == family {
			out = append(out, t)
		}
	}
	return out
}

// row is one line of the table.
type row struct {
	name string
	at   func(time.Duration) (float64, bool)
}

// summed lists the metrics that a table shows if the scenario names none. Metrics with several
// series are summed.
var summed = []string{
	metric.FreeBlocks, metric.EmptyBlocks, metric.Blocks, metric.InUse, metric.Borrowed, metric.NodesWithoutBlock, metric.StarvedNodes,
	metric.BlackholedPairs, metric.Leaked, metric.Candidates, metric.RangeSize, metric.RangeInUse, metric.RangeLeaked,
}

// The table has a column for each instant, as many as fit.
const (
	timeWidth   = 12
	columnWidth = 11
	columnsMin  = 2
	seriesMax   = 12 // a metric with more series is shown as their sum
)

func tableOf(r *reports.Report, signs []alarm) []string {
	rows := rows(r, signs)
	name := 0
	for _, row := range rows {
		name = max(name, utf8.RuneCountInString(row.name))
	}
	instants := columnsOf(r.Series.Instants(), signs, max((proseWidth-2-name)/columnWidth, columnsMin))
	head := layout.Pad("", name)
	for _, at := range instants {
		head += fmt.Sprintf("%*s", columnWidth, sampledAt(at))
	}
	out := []string{head}
	for _, row := range rows {
		line := layout.Pad(row.name, name)
		for _, at := range instants {
			text := "-"
			if v, ok := row.at(at); ok {
				text = number(v)
			}
			line += fmt.Sprintf("%*s", columnWidth, text)
		}
		out = append(out, line)
	}
	return out
}

// rows returns a row for every series of the metrics that the scenario names; or else sums,
// without those that are always 0 unless that is an alarm.
func rows(r *reports.Report, signs []alarm) []row {
	var out []row
	sum := func(name string) row {
		return row{name, func(at time.Duration) (float64, bool) { return r.Series.Sum(name, at) }}
	}
	if len(r.Metrics) == 0 {
		for _, name := range summed {
			_, which := r.Series.First(name, func(v float64) bool { return v != 0 })
			if which == nil && !slices.ContainsFunc(signs, func(a alarm) bool { return a.name == name }) {
				continue
			}
			parts := partsOf(r.Series, name)
			if len(parts) == 0 {
				parts = countless(r, name)
			}
			if len(parts) == 0 || len(parts) > seriesMax {
				out = append(out, sum(name))
				continue
			}
			for _, t := range parts {
				out = append(out, row{reports.Clean(t.Key()), t.At})
			}
		}
		return out
	}
	tracks := r.Series.Tracks()
	for _, name := range r.Metrics {
		var own []row
		for _, t := range tracks {
			if t.Name == name {
				own = append(own, row{reports.Clean(t.Key()), t.At})
			}
		}
		switch {
		case len(own) == 0:
			out = append(out, row{reports.Clean(name), func(time.Duration) (float64, bool) { return 0, false }})
		case len(own) > seriesMax:
			out = append(out, sum(name))
		default:
			out = append(out, own...)
		}
	}
	return out
}

// countless returns the series of a metric if one has the size of IPv6: a sum would hide the
// IPv4 pools. It returns none otherwise.
func countless(r *reports.Report, name string) (out []*metric.Track) {
	size, large := name, false
	if name == metric.RangeInUse || name == metric.RangeLeaked {
		size = metric.RangeSize // the same rows as RangeSize
	}
	for _, t := range r.Series.Tracks() {
		if t.Name == name {
			out = append(out, t)
		}
		large = large || t.Name == size && slices.ContainsFunc(t.Changes, func(c metric.Change) bool { return c.Value > 1<<32 })
	}
	if !large {
		return nil
	}
	return out
}

// columnsOf chooses n instants: the first and the last, those of alarms, then others evenly
// distributed.
func columnsOf(all []time.Duration, signs []alarm, n int) []time.Duration {
	chosen := []time.Duration{all[0]}
	take := func(at time.Duration) {
		if len(chosen) < n && !slices.Contains(chosen, at) {
			chosen = append(chosen, at)
		}
	}
	take(all[len(all)-1])
	for _, s := range signs {
		take(s.at)
	}
	for parts := 2; parts <= n && len(chosen) < min(n, len(all)); parts++ {
		for i := 1; i < parts; i++ {
			take(all[i*(len(all)-1)/parts])
		}
	}
	slices.Sort(chosen)
	return chosen
}

// number renders a count.
func number(v float64) string {
	if math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
