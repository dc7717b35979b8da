package calibrate

import (
	"fmt"
	"math"
	"strings"
	"time"

	"ipamsim/scenarios/calibrate/observe"
	"ipamsim/scenarios/plan/values"
)

// Here facts become sentences, and nowhere else.

// Text says what a parameter rests on, and its band.
func (p *Parameter) Text() string {
	var parts []string
	if lack := p.Lack.Text(); lack != "" {
		parts = append(parts, "too few data: "+lack)
	}
	if basis := p.basis(); basis != "" && p.Lack.What != LackPods && p.Lack.What != LackNodes {
		parts = append(parts, basis)
	}
	if p.Banded && !(math.IsInf(p.Band.High, 1) && p.Band.Low <= 0) && !math.IsInf(p.Band.Low, -1) {
		parts = append(parts, p.estimate())
	}
	return strings.Join(parts, "; ")
}

func (p *Parameter) basis() string {
	r := &p.Rests
	text := ""
	switch r.What {
	case BasisListed:
		if p.Value == nil {
			return ""
		}
		return "as of " + r.At.UTC().Format(time.RFC3339)
	case BasisBegin:
		return "the plan begins at the end of the data, " + r.At.UTC().Format("Monday 2006-01-02 15:04 UTC")
	case BasisAges:
		return fmt.Sprintf("ages of %s at one instant, if the cluster is steady", count(r.Count, "pod"))
	case BasisLifetimes:
		text = fmt.Sprintf("%s of %s observed pods ended, in %s of pod time", thousands(r.Count), thousands(r.Among), long(r.Over))
		if r.Taken > 0 {
			text += fmt.Sprintf("; %s more ended with their node", thousands(r.Taken))
		}
		if r.From > time.Minute {
			text += fmt.Sprintf("; lifetimes shorter than %s are not observed and not counted", long(r.From))
		}
	case BasisArrived:
		if r.Over == 0 {
			return ""
		}
		text = fmt.Sprintf("%s in %s", count(r.Count, "pod"), long(r.Over))
	case BasisEvents:
		if r.Over == 0 {
			return ""
		}
		text = fmt.Sprintf("%s in %s of nodes' service", thousands(r.Count), long(r.Over))
		if r.Least > 0 {
			text = fmt.Sprintf("%s that lasted longer than %s in %s of node time", thousands(r.Count), long(r.Least), long(r.Over))
		}
	case BasisLasted:
		text = fmt.Sprintf("%s that were over", thousands(r.Count))
	case BasisDays:
		text = count(r.Count, "day")
	}
	if r.Phi >= 1.1 {
		text += fmt.Sprintf("; they are clustered (%.1f times the variance of independent events)", r.Phi)
	}
	return text
}

// estimate is a value with its band.
func (p *Parameter) estimate() string {
	show := func(x float64) string { return fmt.Sprintf("%.3g", x) }
	name := ""
	switch p.Setting {
	case "lifetime", "arrivalsLifetime":
		show = span
		if name = "mean "; !p.isMean() {
			name = "the median mark is " // p50, or the one next to it
		}
	case "grow", "growPods":
		show = func(x float64) string { return fmt.Sprintf("%+.0f", x) }
	case "arrivals":
	default:
		show = span
	}
	switch {
	case math.IsInf(p.Band.High, 1):
		return fmt.Sprintf("at least %s (95 %%)", show(p.Band.Low))
	case p.Band.Low <= 0 && !(p.Setting == "grow" || p.Setting == "growPods"):
		return fmt.Sprintf("%s%s, at most %s (95 %%)", name, show(p.Estimate), show(p.Band.High))
	}
	return fmt.Sprintf("%s%s (95 %%: %s to %s)", name, show(p.Estimate), show(p.Band.Low), show(p.Band.High))
}

// isMean: a single number, not marks.
func (p *Parameter) isMean() bool { _, text := p.Value.(string); return text }

// Text of what is lacking; "" for nothing.
func (l Lack) Text() string {
	switch l.What {
	case LackPods:
		return "no pods with a known creation; add kubectl get pods -A -o yaml"
	case LackEnds:
		return fmt.Sprintf("%d ends of pods were observed, want %d", l.Have, l.Want)
	case LackScans:
		if l.Have == 0 {
			return "no listing; add kubectl get nodes,pods -A -o yaml"
		}
		return "one listing is not enough; add a later one"
	case LackTime:
		if l.Time == 0 {
			return "the files cover no period in which it could be observed"
		}
		return fmt.Sprintf("the data cover %s, want %s", long(l.Time), long(l.WantTime))
	case LackClose:
		if l.Time == 0 {
			return "one listing is not enough; add an audit log, or a range query of Prometheus"
		}
		return fmt.Sprintf("listings are %s apart and do not show what happens in between; want %s or less, or a log", long(l.Time), long(l.WantTime))
	case LackEvents:
		return fmt.Sprintf("%d seen, want %d", l.Have, l.Want)
	case LackNodes:
		return "no listing of nodes; add kubectl get nodes -o yaml"
	case LackDays:
		return fmt.Sprintf("%d days of listings, want %d", l.Have, l.Want)
	case LackShrink:
		return "their number falls, which a plan does not support for nodes"
	case LackUneven:
		return fmt.Sprintf("arrivals vary %d times more between days than within a day, but a plan treats all days alike", l.Have)
	}
	return ""
}

// Read says how much there is to go by.
func (f *Fit) Read() string {
	s := fmt.Sprintf("%s of data", long(f.Window.Length()))
	if f.Window.Length() == 0 {
		s = "one instant"
	}
	s += fmt.Sprintf(", %s to %s", f.Window.From.UTC().Format(time.RFC3339), f.Window.To.UTC().Format(time.RFC3339))
	if f.Restarts.Exposure > 0 {
		s += fmt.Sprintf("; %s of containers, which keep the address of their pod", count(int(f.Restarts.Count), "restart"))
	}
	return s
}

// NoteText says what a note is about.
func NoteText(n observe.Note) string {
	switch n.What {
	case observe.NoteHostNetwork:
		return fmt.Sprintf("%s on the host network skipped", count(n.Count, "pod"))
	case observe.NoteOwnerUnknown:
		return fmt.Sprintf("the owner of %s is unknown: assumed to be recreated when they end", count(n.Count, "pod"))
	case observe.NoteOtherObjects:
		return fmt.Sprintf("%s of other kinds skipped", count(n.Count, "object"))
	case observe.NoteOtherMetrics:
		return fmt.Sprintf("%s of other metrics, or without __name__, skipped", count(n.Count, "time series")) + " (see ipamsim calibrate --help)"
	case observe.NoteNoCordons:
		return n.Name + ": no bodies of requests on nodes, so drains are not observed; use audit level Request"
	case observe.NoteManyDeleted:
		return fmt.Sprintf("%s deleted all pods of a selection, which are unknown", count(n.Count, "request"))
	case observe.NoteUnnamed:
		return fmt.Sprintf("the log does not have the name of %s: they count from their binding by the scheduler", count(n.Count, "new pod"))
	case observe.NoteScanTime:
		return n.Name + ": assumed to be taken at the latest time in it; set the time with FILE@TIME"
	case observe.NoteNoPods:
		return n.Name + ": no pods"
	case observe.NoteWithoutBirth:
		return fmt.Sprintf("the creation of %s is unknown", count(n.Count, "pod"))
	case observe.NoteNodeUnknown:
		return fmt.Sprintf("the node of %s is unknown: a pod that a drain ended counts as ended by itself", count(n.Count, "pod"))
	case observe.NoteEventsNoEnds:
		return n.Name + ": events do not show when pods end"
	}
	return ""
}

// count is a number with what is counted.
func count(n int, one string) string {
	if n != 1 && !strings.HasSuffix(one, "series") {
		one += "s"
	}
	return thousands(n) + " " + one
}

// thousands are separated by commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func span(x float64) string { return long(time.Duration(min(max(x, 0), math.MaxInt64/2))) }

// long is a time in two units at most: 3d4h, 15m20s.
func long(d time.Duration) string {
	switch {
	case d >= 100*day:
		d = d.Round(day)
	case d >= day:
		d = d.Round(time.Hour)
	case d >= time.Hour:
		d = d.Round(time.Minute)
	default:
		d = d.Round(time.Second)
	}
	if d >= 1000*day {
		return fmt.Sprintf("%.1f years", d.Hours()/24/365.25)
	}
	return values.SpanText(d)
}
