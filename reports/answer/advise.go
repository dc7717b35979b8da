package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ipamsim/reports"
	"ipamsim/reports/answer/words"
)

// measuresInSentence is the maximum number of measures in a sentence; the table has all.
const measuresInSentence = 6

// summary returns a sentence about several recommendations, "" if there are fewer than two.
func (a *Answer) summary() string {
	if len(a.Recommended) < 2 {
		return ""
	}
	met, same, choices := 0, true, 0
	for i := range a.Recommended {
		r := &a.Recommended[i]
		choices = max(choices, len(r.Among))
		if r.Outcome == Take {
			met++
		}
		same = same && r.Outcome == Take && a.Choice(r.Rows[0]) == a.Choice(a.Recommended[0].Rows[0])
	}
	built := strings.TrimRight(" "+a.built(a.Recommended), " ")
	var given []string
	for _, x := range a.Axes {
		if x.Given {
			given = append(given, x.Setting)
		}
	}
	switch {
	case same && choices > 1:
		return fmt.Sprintf("Whatever %s: %s is best.", words.List(given)+words.Either(len(given), " is", " are"), a.Choice(a.Recommended[0].Rows[0])) + built
	case choices > 1:
		return fmt.Sprintf("In %d of %d cases of %s an option meets the requirements.", met, len(a.Recommended), words.List(given)) + built
	}
	return fmt.Sprintf("In %d of %d cases of %s the requirements are met.", met, len(a.Recommended), words.List(given))
}

// advise renders a recommendation as sentences, the most important first.
func (a *Answer) advise(r *Recommendation) (s []string) {
	switch r.Outcome {
	case Take:
		s = words.NonEmpty([]string{a.take(r), a.ties(r), a.price(r), a.brings(r), a.noted(r), a.never(r), a.nearMisses(r), a.couldBe(r)})
	case NoneMeets:
		s = []string{a.noneMeets(r)}
	case TooFewRepeats:
		s = []string{a.tooFew(r)}
	default:
		s = []string{a.unanswered(r)}
	}
	if len(r.Given) > 0 {
		s[0] = "With " + words.List(r.Given) + ": " + s[0]
	}
	return s
}

// take names the best row and the reason.
func (a *Answer) take(r *Recommendation) string {
	best := r.Rows[0]
	name, asked := a.Choice(best), a.Asked()
	reason := ""
	if f, ok := a.Rows[best].Figures[a.Minimise]; ok {
		m := a.Measure(a.Minimise)
		reason = fmt.Sprintf("%s, %s", m.words, a.Say(m.Unit, float64(f.Value))) + m.average()
		if band := a.band(m, f); band != "" {
			reason += " (95%: " + band + ")"
		}
	}
	meeting := 0
	for _, n := range r.Among {
		if a.Rows[n].Outcome() == Meets {
			meeting++
		}
	}
	verb := "Take "
	if best == r.Among[0] {
		verb = "Stay with "
	}
	switch {
	case len(r.Among) == 1 && asked == "":
		return fmt.Sprintf("The plan has one option: %s.", name)
	case len(r.Among) == 1:
		return fmt.Sprintf("%s meets the requirements: %s.", words.Upper(name), asked)
	case asked == "" && reason == "":
		return "The plan sets neither require nor minimise, so no option is better than another."
	case asked == "":
		return fmt.Sprintf("%s%s: of %d options %s.", verb, name, len(r.Among), reason)
	case meeting == 1:
		s := fmt.Sprintf("%s%s: the only one of %d options that meets the requirements, %s", verb, name, len(r.Among), asked)
		if reason != "" {
			s += fmt.Sprintf("; %s %s", a.Measure(a.Minimise).Column(), a.Say(a.Measure(a.Minimise).Unit, float64(a.Rows[best].Figures[a.Minimise].Value)))
		}
		return s + "."
	case reason == "":
		return fmt.Sprintf("%s%s: one of %d of %d options that meet the requirements, %s.", verb, name, meeting, len(r.Among), asked)
	}
	return fmt.Sprintf("%s%s: of the %d of %d options that meet the requirements, %s, %s.", verb, name, meeting, len(r.Among), asked, reason)
}

// Asked renders the requirements of the plan.
func (a *Answer) Asked() string {
	var parts []string
	for _, b := range a.Require {
		parts = append(parts, a.bound(b))
	}
	return words.List(parts)
}

// ties names the rows that are not significantly worse than the best one.
func (a *Answer) ties(r *Recommendation) string {
	if len(r.Rows) == 1 || a.Minimise == "" && len(a.Require) == 0 {
		return ""
	}
	verb := "are"
	if len(r.Rows) == 2 {
		verb = "is"
	}
	return fmt.Sprintf("%s %s not significantly worse.", words.List(a.names(r.Rows[1:])), verb)
}

// price compares the best row with the first one, which is the present state.
func (a *Answer) price(r *Recommendation) string {
	if r.Rows[0] == r.Among[0] {
		return ""
	}
	best, now := &a.Rows[r.Rows[0]], &a.Rows[r.Among[0]]
	var worse, better []string
	for _, d := range r.Against {
		m := a.Measure(d.Measure)
		is, was := a.Say(m.Unit, float64(best.Figures[m.Name].Value)), a.Say(m.Unit, float64(now.Figures[m.Name].Value))
		if m.aside || is == was || m.Unit == Blocks && best.BlockSize != now.BlockSize {
			continue
		}
		if text := m.Column() + " " + is + " instead of " + was; d.By > 0 {
			worse = append(worse, text)
		} else {
			better = append(better, text)
		}
	}
	if len(better)+len(worse) == 0 {
		return ""
	}
	if len(worse) == 0 && len(r.Races) > 0 { // brings follows; it names what is worse and not measured
		return fmt.Sprintf("Compared with %s, better: %s.", a.Choice(r.Among[0]), words.List(words.Some(better, measuresInSentence)))
	}
	list := func(parts []string) string {
		return cmp.Or(words.List(words.Some(parts, measuresInSentence)), "none of the measures")
	}
	return fmt.Sprintf("Compared with %s, better: %s. Worse: %s.", a.Choice(r.Among[0]), list(better), list(worse))
}

// noted repeats the cost that the plan gives for the best row.
func (a *Answer) noted(r *Recommendation) string {
	cost := strings.TrimRight(a.Rows[r.Rows[0]].Cost, ". ")
	if cost == "" || r.Rows[0] == r.Among[0] {
		return ""
	}
	return "Noted in the plan, not simulated: " + cost + "."
}

// built notes that the migration to the recommended options was not simulated. It returns ""
// if every recommendation is to stay, or if migrations were simulated.
func (a *Answer) built(all []Recommendation) string {
	switch {
	case !slices.ContainsFunc(all, func(r Recommendation) bool { return len(r.Rows) > 0 && r.Rows[0] != r.Among[0] }):
		return ""
	case slices.ContainsFunc(a.Rows, func(r Row) bool { return r.Migration != nil }):
		return "" // each migration has its own sentence
	case a.Question.From != "":
		return "Each option starts with the records of " + words.Quoted(reports.Clean(a.Question.From)) + "; the migration to it was not simulated."
	}
	return "Each option was simulated as a new cluster; the migration of a running cluster was not simulated."
}

// never names the measures that must be 0 and were 0 in every trial, with the upper end of the band.
func (a *Answer) never(r *Recommendation) string {
	var zero []string
	best := &a.Rows[r.Rows[0]]
	for _, v := range best.Bounds {
		if v.Most == 0 && v.Outcome == Meets {
			zero = append(zero, a.Measure(v.Measure).Column())
		}
	}
	if len(zero) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: 0 in all %s; the probability of more is at most %s (95%%).", words.Upper(words.List(zero)), words.Plural(best.Trials, "trial"), words.Percent(rare(best.Trials)))
}

// nearMisses names the options that would be better if they did not break one bound.
func (a *Answer) nearMisses(r *Recommendation) string {
	m := a.Measure(a.Minimise)
	if m == nil {
		return ""
	}
	var near []string
	least := a.Rows[r.Rows[0]].Figures[m.Name].Value
	for _, n := range r.Among[1:] {
		if f, ok := a.Rows[n].Figures[m.Name]; ok && f.Value < least && a.Rows[n].Outcome() == Breaks {
			if broken := a.broken(n); len(broken) == 1 {
				near = append(near, fmt.Sprintf("%s (%s; %s)", a.Choice(n), a.Say(m.Unit, float64(f.Value)), broken[0]))
			}
		}
	}
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf("Better in %s, but each breaks one bound: %s.", m.Column(), words.List(words.Some(near, words.NamesMax)))
}

// couldBe names the rows that have too few repeats for a verdict.
func (a *Answer) couldBe(r *Recommendation) string {
	if len(r.Maybe) == 0 {
		return ""
	}
	return fmt.Sprintf("%d repeats are too few to decide whether %s %s the requirements%s.", a.Repeats, words.List(a.names(r.Maybe)), words.Either(len(r.Maybe), "meets", "meet"), a.enough(r.Maybe))
}

func (a *Answer) noneMeets(r *Recommendation) string {
	asked, nearest := a.Asked(), *r.Nearest
	s := fmt.Sprintf("No option meets the requirements, %s. ", asked)
	if len(r.Among) == 1 {
		return fmt.Sprintf("%s does not meet the requirements, %s: %s.", words.Upper(a.Choice(nearest)), asked, words.List(a.broken(nearest)))
	}
	s += fmt.Sprintf("The nearest is %s: %s.", a.Choice(nearest), words.List(a.broken(nearest)))
	var others []string
	alike := true
	for _, n := range r.Among {
		if n != nearest && a.Rows[n].Outcome() == Breaks {
			alike = alike && words.List(a.broken(n)) == words.List(a.broken(nearest))
			others = append(others, fmt.Sprintf("%s: %s", a.Choice(n), words.List(a.broken(n))))
		}
	}
	switch {
	case len(others) > 0 && alike:
		s += " The others are no better."
	case len(others) > 0:
		s += " The others: " + strings.Join(words.Some(others, words.NamesMax), "; ") + "."
	}
	return s
}

// broken lists the bounds that a row does not meet, with its values.
func (a *Answer) broken(n int) (out []string) {
	for _, v := range a.Rows[n].Bounds {
		m := a.Measure(v.Measure)
		switch {
		case v.Outcome == Meets:
		case m == nil || v.Outcome == NotKnown:
			out = append(out, a.Called(v.Measure)+" is not known")
		default:
			out = append(out, a.instead(n, m, v.Bound))
		}
	}
	return out
}

// instead renders a row's value of a measure whose bound it breaks.
func (a *Answer) instead(n int, m *Measure, b Bound) string {
	f := a.Rows[n].Figures[m.Name]
	s := fmt.Sprintf("%s is %s", m.Column(), a.Say(m.Unit, float64(f.Value))) + m.average()
	switch worst := a.Measure(m.Name + "Max"); {
	case worst != nil:
		s += fmt.Sprintf(", %s %s", a.Say(worst.Unit, float64(a.Rows[n].Figures[worst.Name].Value)), AtWorst)
	case b.Most == 0 && m.Over == OverMean && f.Any < f.Trials:
		s += fmt.Sprintf(", in %d of %s", f.Any, words.Plural(f.Trials, "trial"))
	}
	return s
}

func (a *Answer) tooFew(r *Recommendation) string {
	n := r.Maybe[0]
	for _, v := range a.Rows[n].Bounds {
		if v.Outcome != TooFew {
			continue
		}
		f, m := a.Rows[n].Figures[v.Measure], a.Measure(v.Measure)
		s := fmt.Sprintf("Too few repeats: %s of %s cannot show %s. The value is %s", words.Plural(f.Trials, "trial"), a.Choice(n), a.bound(v.Bound), a.Say(m.Unit, float64(f.Value)))
		if band := a.band(m, f); band != "" {
			s += " (95%: " + band + ")"
		}
		s += a.enough(r.Maybe) + "."
		others := 0
		for _, n := range r.Among {
			if a.Rows[n].Outcome() == Breaks {
				others++
			}
		}
		if others > 0 {
			s += fmt.Sprintf(" %s not meet it.", words.Either(others, "The other option does", fmt.Sprintf("The other %d options do", others)))
		}
		return s
	}
	return ""
}

// enough states how many repeats would decide about rows.
func (a *Answer) enough(rows []int) string {
	needs := 0
	for _, n := range rows {
		for _, v := range a.Rows[n].Bounds {
			switch {
			case v.Outcome == TooFew && v.Most == 0 && v.Needs == 0:
				return "; no number of trials shows that a chance is 0: require a small one, such as 0.01"
			case v.Outcome == TooFew && v.Needs == 0:
				return "; it is too close to the bound for any number of repeats"
			case v.Outcome == TooFew:
				needs = max(needs, v.Needs)
			}
		}
	}
	return fmt.Sprintf("; about %s would suffice", words.Plural(roundUp(needs), "repeat"))
}

// roundUp rounds up to two digits: 465 is 470.
func roundUp(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit - 1) / unit * unit
}

func (a *Answer) unanswered(r *Recommendation) string {
	for _, n := range r.Among {
		if len(a.Rows[n].Refused) > 0 {
			return fmt.Sprintf("There is no answer: %s.", strings.TrimRight(a.Rows[n].Refused[0], "."))
		}
		for _, v := range a.Rows[n].Bounds {
			if a.Rows[n].Trials > 0 && v.Outcome == NotKnown {
				return fmt.Sprintf("There is no answer: the engine %q does not measure %s.", a.Rows[n].Engine, a.Called(v.Measure))
			}
		}
	}
	return "There is no answer yet: no point is finished."
}

func (a *Answer) names(rows []int) []string {
	var all []string
	for _, n := range rows {
		all = append(all, a.Choice(n))
	}
	return words.Some(all, words.NamesMax)
}
