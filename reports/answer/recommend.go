package answer

import (
	"math"
	"slices"
	"strings"

	"ipamsim/reports"
	"ipamsim/reports/answer/words"
)

// Recommendation is the row to choose for given values of the axes that the user does not choose.
type Recommendation struct {
	Given   []string `json:"given,omitempty"` // "setting value", of the given axes
	Outcome Advice   `json:"outcome"`
	// Rows lists the best row that meets the requirements, then the rows that are not
	// significantly worse.
	Rows []int `json:"rows,omitempty"`
	// Nearest is the row nearest to the requirements if no row meets them.
	Nearest *int `json:"nearest,omitempty"`
	// Maybe lists rows with too few trials for a verdict.
	Maybe []int `json:"maybe,omitempty"`
	// Against lists the significant differences of the best row from the first one, the
	// present state, in the order of measures.
	Against []Difference `json:"against,omitempty"`
	// Races lists known failures that the best row adds compared with the first one. No
	// trial shows them.
	Races []Race `json:"races,omitempty"`
	Text  string `json:"text"`

	Sentences []string `json:"-"` // of Text, each with its reasons
	Among     []int    `json:"-"` // the rows to choose from
}

// Advice is the outcome of a recommendation.
type Advice string

// The outcomes of a recommendation.
const (
	Take          Advice = "recommended"
	NoneMeets     Advice = "none-meets"
	TooFewRepeats Advice = "too-few-repeats"
	Unanswered    Advice = "unanswered"
)

// Difference is the difference of a measure between two rows, paired by repeat, with a band
// of 95 % by Student's t.
type Difference struct {
	Measure string `json:"measure"`
	By      Number `json:"by"`
	Low     Number `json:"low"`
	High    Number `json:"high"`
}

func (a *Answer) recommend() []Recommendation {
	groups := a.groups()
	for i := range groups {
		r := &groups[i]
		var meets []int
		for _, n := range r.Among {
			switch a.Rows[n].Outcome() {
			case Meets:
				meets = append(meets, n)
			case TooFew:
				r.Maybe = append(r.Maybe, n)
			}
		}
		known := func(n int) bool { return a.Rows[n].Outcome() != NotKnown }
		switch {
		case len(meets) > 0:
			r.Outcome, r.Rows = Take, a.best(meets)
			r.Against = a.differences(r.Among[0], r.Rows[0])
			r.Races = a.races(r.Among[0], r.Rows[0])
		case len(r.Maybe) > 0:
			r.Outcome = TooFewRepeats
		case slices.ContainsFunc(r.Among, known):
			r.Outcome = NoneMeets
			nearest := a.nearest(slices.DeleteFunc(slices.Clone(r.Among), func(n int) bool { return !known(n) }))
			r.Nearest = &nearest
		default:
			r.Outcome = Unanswered
		}
		r.Sentences = a.advise(r)
		if r.Outcome == Take {
			if m := a.Rows[r.Rows[0]].Migration; m != nil {
				r.Sentences = append(r.Sentences, m.Text)
			}
		}
		if len(groups) == 1 { // otherwise the summary contains it
			r.Sentences = words.NonEmpty(append(r.Sentences, a.built(groups)))
		}
		r.Text = strings.Join(r.Sentences, " ")
	}
	return groups
}

// groups groups the rows by the values of given axes, in order.
func (a *Answer) groups() []Recommendation {
	var out []Recommendation
	at := map[string]int{}
	for n := range a.Rows {
		given := a.given(&a.Rows[n])
		key := strings.Join(given, "\x00")
		i, seen := at[key]
		if !seen {
			i = len(out)
			at[key], out = i, append(out, Recommendation{Given: given})
		}
		out[i].Among = append(out[i].Among, n)
	}
	return out
}

func (a *Answer) given(r *Row) (out []string) {
	for i := range min(len(a.Axes), len(r.Values)) {
		if a.Axes[i].Given {
			out = append(out, a.Axes[i].Setting+" "+r.Values[i])
		}
	}
	return out
}

// Outcome combines the bounds of a row: Breaks takes precedence, then NotKnown, then TooFew.
func (r *Row) Outcome() Outcome {
	if r.Trials == 0 {
		return NotKnown
	}
	all := Meets
	for _, o := range []Outcome{TooFew, NotKnown, Breaks} {
		if slices.ContainsFunc(r.Bounds, func(v Verdict) bool { return v.Outcome == o }) {
			all = o
		}
	}
	return all
}

// best returns the best row by the measure to minimise, then the rows that are not
// significantly worse.
func (a *Answer) best(rows []int) []int {
	value := func(n int) float64 {
		f, ok := a.Rows[n].Figures[a.Minimise]
		if !ok {
			return math.Inf(1)
		}
		return float64(f.Value)
	}
	best := rows[0]
	for _, n := range rows {
		if value(n) < value(best) {
			best = n
		}
	}
	out := []int{best}
	for _, n := range rows {
		if n == best {
			continue
		}
		mean, low, _ := paired(a.Rows[best].ByRepeat[a.Minimise], a.Rows[n].ByRepeat[a.Minimise])
		if a.Minimise == "" || mean == 0 || low <= 0 {
			out = append(out, n)
		}
	}
	return out
}

// differences lists the significant differences between two rows.
func (a *Answer) differences(from, to int) (out []Difference) {
	if from == to {
		return nil
	}
	for i := range a.Measures {
		m := &a.Measures[i]
		if m.Better == "" || m.Over == OverMedian {
			continue
		}
		by, low, high := paired(a.Rows[from].ByRepeat[m.Name], a.Rows[to].ByRepeat[m.Name])
		if low > 0 || high < 0 {
			out = append(out, Difference{m.Name, Number(by), Number(low), Number(high)})
		}
	}
	return out
}

// nearest returns the row that breaks the fewest bounds. Among equals it returns the row that
// exceeds them least, then the row with the least of the measure to minimise.
func (a *Answer) nearest(rows []int) int {
	worst := map[string]float64{}
	for _, n := range rows {
		for name, f := range a.Rows[n].Figures {
			worst[name] = max(worst[name], float64(f.Value))
		}
	}
	best, bestBroken, bestOver, bestLeast := rows[0], math.MaxInt, math.Inf(1), Number(math.Inf(1))
	for _, n := range rows {
		broken, over := 0, 0.0
		for _, v := range a.Rows[n].Bounds {
			if v.Outcome == Meets {
				continue
			}
			broken++
			over += ratio(float64(a.Rows[n].Figures[v.Measure].Value)-v.Most, worst[v.Measure])
		}
		least := a.Rows[n].Figures[a.Minimise].Value
		if broken < bestBroken || broken == bestBroken && (over < bestOver || over == bestOver && least < bestLeast) {
			best, bestBroken, bestOver, bestLeast = n, broken, over, least
		}
	}
	return best
}

// Choice names a row within its group, without the given values.
func (a *Answer) Choice(n int) string {
	r := Row{Option: a.Rows[n].Option}
	var axes []Axis
	for i := range min(len(a.Axes), len(a.Rows[n].Values)) {
		if !a.Axes[i].Given {
			axes, r.Values = append(axes, a.Axes[i]), append(r.Values, a.Rows[n].Values[i])
		}
	}
	return words.Quoted(reports.Clean(NameOf(axes, &r)))
}

// Best reports whether a row is the best of its group.
func (a *Answer) Best(n int) bool {
	return slices.ContainsFunc(a.Recommended, func(r Recommendation) bool { return len(r.Rows) > 0 && r.Rows[0] == n })
}
