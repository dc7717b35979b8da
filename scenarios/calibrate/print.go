package calibrate

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"ipamsim/reports/table"
	"ipamsim/scenarios/calibrate/estimate"
	"ipamsim/scenarios/plan/values"
)

// String names a measure.
func (m Measure) String() string {
	return [...]string{
		"pods started", "pods ended", "pods at most", "pods on average", "pods at the end",
		"nodes at the end", "nodes joined", "nodes lost", "drains", "crashes",
	}[m]
}

// MarshalText is for JSON.
func (m Measure) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Text is the answer of a backtest, for people.
func (b *Backtest) Text(w io.Writer) error {
	t := table.New("measure", "95 % interval", "came", "")
	covered := 0
	for i := range b.Measures {
		m := &b.Measures[i]
		switch {
		case !m.Judged():
			t.Add(m.Measure.String(), "not judged", "", m.Lack.Text())
			continue
		case m.Covered:
			covered++
			t.Add(m.Measure.String(), bandText(m.Band), number(m.Came), "covered")
		default:
			t.Add(m.Measure.String(), bandText(m.Band), number(m.Came), fmt.Sprintf("not covered (so far out in one of %s worlds)", thousands(int(math.Round(1/m.Rarity)))))
		}
	}
	stamp := func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }
	_, err := fmt.Fprintf(w, "Fitted on %s, from %s to %s; compared with the %s after it, in %s worlds.\n\n%s\n\n%s\n",
		long(b.At.Sub(b.From)), stamp(b.From), stamp(b.At), long(b.To.Sub(b.At)), thousands(b.Worlds), t.Text(), b.verdict(covered))
	return err
}

func (b *Backtest) verdict(covered int) string {
	judged := b.Judged()
	switch {
	case judged == 0:
		return "Nothing can be judged."
	case b.Wrong():
		return fmt.Sprintf("%d of %d intervals covered the data, and the deviation is not chance: the load has changed, or does not fit the model of a plan.", covered, judged)
	case covered < judged:
		return fmt.Sprintf("%d of %d intervals covered the data: no more deviations than expected by chance.", covered, judged)
	}
	return fmt.Sprintf("All of %d intervals covered the data.", judged)
}

func bandText(b estimate.Band) string { return number(b.Low) + " to " + number(b.High) }

func number(x float64) string {
	if x == math.Trunc(x) {
		return thousands(int(x))
	}
	return fmt.Sprintf("%.1f", x)
}

// JSON of a backtest.
func (b *Backtest) JSON(w io.Writer) error {
	type line struct {
		Measure Measure `json:"measure"`
		bandLine
		Came    float64 `json:"came"`
		Covered bool    `json:"covered"`
		Rarity  float64 `json:"rarity,omitempty"`
	}
	out := struct {
		From     time.Time `json:"from"`
		At       time.Time `json:"at"`
		To       time.Time `json:"to"`
		Worlds   int       `json:"worlds"`
		Judged   int       `json:"judged"`
		Wrong    bool      `json:"wrong"`
		Measures []line    `json:"measures"`
	}{b.From.UTC(), b.At.UTC(), b.To.UTC(), b.Worlds, b.Judged(), b.Wrong(), nil}
	for i := range b.Measures {
		m := &b.Measures[i]
		out.Measures = append(out.Measures, line{m.Measure, bandOf(m.Band, m.Judged(), 1, &m.Lack), m.Came, m.Covered, m.Rarity})
	}
	return indented(w, out)
}

// bandLine is a band in JSON, the same of what was fitted and of what was predicted, and
// why there is none or it is not to be used.
type bandLine struct {
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	TooLittle string   `json:"tooLittle,omitempty"`
}

func bandOf(b estimate.Band, there bool, unit float64, lack *Lack) bandLine {
	out := bandLine{TooLittle: lack.Text()}
	if there {
		out.Low, out.High = known(b.Low/unit), known(b.High/unit)
	}
	return out
}

func indented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// JSON of a calibration: each parameter with what it rests on. Times are in seconds.
func (f *Fit) JSON(w io.Writer) error {
	type line struct {
		Setting  string   `json:"setting"`
		Value    any      `json:"value,omitempty"`
		Estimate *float64 `json:"estimate,omitempty"`
		bandLine
		Count      int     `json:"count"`
		Among      int     `json:"among,omitempty"`
		Watched    float64 `json:"watchedSeconds,omitempty"`
		Dispersion float64 `json:"dispersion,omitempty"`
		Rests      string  `json:"restsOn"`
	}
	out := struct {
		From       time.Time     `json:"from"`
		To         time.Time     `json:"to"`
		Horizon    values.Span   `json:"horizon"`
		Parameters []line        `json:"parameters"`
		Lifetime   []markLine    `json:"lifetimeMarks,omitempty"`
		Arrivals   []markLine    `json:"arrivalsLifetimeMarks,omitempty"`
		Restarts   *restartsLine `json:"containerRestarts,omitempty"`
	}{From: f.Window.From.UTC(), To: f.Window.To.UTC(), Lifetime: marks(&f.Standing), Arrivals: marks(&f.Arrivals.Lifetimes)}
	out.Horizon.Duration.Duration = f.Horizon
	for i := range f.Parameters {
		p := &f.Parameters[i]
		unit := 1.0
		if p.times() {
			unit = float64(time.Second)
		}
		l := line{Setting: p.Setting, Value: p.Value, bandLine: bandOf(p.Band, p.Banded, unit, &p.Lack), Count: p.Rests.Count, Among: p.Rests.Among, Watched: p.Rests.Over.Seconds(), Dispersion: p.Rests.Phi, Rests: p.Text()}
		if p.Value != nil {
			l.Estimate = known(p.Estimate / unit)
		}
		out.Parameters = append(out.Parameters, l)
	}
	if f.Restarts.Exposure > 0 {
		b := f.Restarts.Band()
		out.Restarts = &restartsLine{f.Restarts.Per() * 24, b.Low * 24, b.High * 24, int(f.Restarts.Count)}
	}
	return indented(w, out)
}

// restartsLine is per pod and day.
type restartsLine struct {
	PerPodDay float64 `json:"perPodAndDay"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Count     int     `json:"count"`
}

type markLine struct {
	Share float64  `json:"share"`
	By    float64  `json:"bySeconds"`
	Low   float64  `json:"lowSeconds"`
	High  *float64 `json:"highSeconds,omitempty"`
}

func marks(l *Lifetimes) (out []markLine) {
	for _, m := range l.Marks {
		x := markLine{Share: m.Share, By: m.By.Seconds(), Low: m.Low.Seconds()}
		if m.High >= 0 {
			x.High = known(m.High.Seconds())
		}
		out = append(out, x)
	}
	return out
}

// known is a number that JSON has; nil for others.
func known(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// times: the parameter's measure is time.
func (p *Parameter) times() bool {
	switch p.Setting {
	case "nodes", "pods", "maxPods", "grow", "growPods", "arrivals", "arrivalsByHour", "arrivalsByWeekday", "arrivalsBatch", "replaceDrained":
		return false
	}
	return true
}
