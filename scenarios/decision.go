package scenarios

import (
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/scenarios/strict"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
	"ipamsim/sim/way"
)

// Decision is one line of a schedule: where it departs from the default order.
// It has either before, with one of go and elapse, or message, with one of delay,
// fault and draw. A message is named as the schedule log names it: ACTOR#N is the
// process's N-th message (ACTOR#2.N that of the second process of that name).
type Decision struct {
	Before  string          `json:"before,omitempty"`  // the message whose turn it would be
	Go      string          `json:"go,omitempty"`      // goes first: ACTOR#N, or the next message of ACTOR
	Elapse  int             `json:"elapse,omitempty"`  // time passes first, so many times
	Message string          `json:"message,omitempty"` // the message that is treated otherwise
	Delay   metav1.Duration `json:"delay,omitzero"`    // it is held for so long, to the nearest step of the ladder
	After   int             `json:"after,omitempty"`   // it is held only after so many other moves
	Fault   string          `json:"fault,omitempty"`   // it is hurt: fail-before, lose-reply, stale, drop, gone or crash
	Way     string          `json:"way,omitempty"`     // how it fails or what is seen of the loss: one of spec.faults.answers; default: the first that it can
	Draw    int             `json:"draw,omitempty"`    // the answer it is given

	About string `json:"-"` // what the message says, printed as a comment
}

// DecisionOf writes an exception down.
func DecisionOf(e strategy.Exception) Decision {
	none := strategy.Message{}
	switch {
	case e.Outcome == sim.Elapse:
		return Decision{Before: e.Before.String(), Elapse: max(e.Times, 1)}
	case e.Before != none:
		return Decision{Before: e.Before.String(), Go: e.Message.String()}
	case e.Outcome == sim.Delay:
		return Decision{Message: e.Message.String(), Delay: metav1.Duration{Duration: short(sim.Ladder[e.Level])}, After: e.Times}
	case e.Outcome == sim.Proceed:
		return Decision{Message: e.Message.String(), Draw: e.Level}
	}
	d := Decision{Message: e.Message.String(), Fault: e.Outcome.String()}
	if hasWays(e.Outcome) {
		d.Way = way.Way(e.Level).String()
	}
	return d
}

// hasWays reports whether an outcome has several answers.
func hasWays(o sim.Outcome) bool { return o == sim.FailBefore || o == sim.LoseReply }

// short rounds to two significant digits: enough to distinguish the steps of the ladder, which are a
// quarter apart.
func short(d time.Duration) time.Duration {
	unit := time.Duration(math.Pow(10, math.Floor(math.Log10(float64(d)))-1))
	return d.Round(max(unit, 1))
}

// nearestRung is the step of the ladder that is nearest to d, by ratio.
func nearestRung(d time.Duration) int {
	i := sim.Rung(d)
	if i > 0 && float64(d)*float64(d) < float64(sim.Ladder[i])*float64(sim.Ladder[i-1]) {
		i--
	}
	return i
}

// levelMax is more than any message has answers.
const levelMax = 1_000_000

// exception is the inverse of DecisionOf; field is not "" if there is a problem.
func (d Decision) exception() (e strategy.Exception, field, problem string) {
	if d.kinds() != 1 {
		return e, ".", "want before with either go or elapse, or message with one of delay, fault and draw"
	}
	switch {
	case d.After != 0 && d.Delay.Duration == 0:
		return e, "after", "only for a delay"
	case d.Way != "" && d.Fault == "":
		return e, "way", "only for a fault"
	}
	for _, n := range []struct {
		field string
		value int
	}{{"elapse", d.Elapse}, {"after", d.After}, {"draw", d.Draw}} {
		if n.value < 0 || n.value > levelMax {
			return e, n.field, "want a number from 1 to 1000000"
		}
	}
	for _, m := range []struct {
		field, text string
		to          *strategy.Message
	}{{"before", d.Before, &e.Before}, {"message", d.Message, &e.Message}, {"go", d.Go, &e.Message}} {
		if m.text == "" {
			continue
		}
		var err error
		if *m.to, err = strategy.ParseMessage(m.text); err != nil {
			return e, m.field, strict.OneLine(err)
		}
		if m.to.Seq == 0 && m.field != "go" {
			return e, m.field, "want ACTOR#N, the number of the message"
		}
	}
	return d.treatment(e)
}

// kinds is how many kinds of decision it is; a good one is of one.
func (d Decision) kinds() (n int) {
	held, hurt, drawn := d.Delay.Duration != 0, d.Fault != "", d.Draw != 0
	for _, is := range []bool{
		d.Before != "" && d.Go != "", d.Before != "" && d.Elapse != 0,
		d.Message != "" && held, d.Message != "" && hurt, d.Message != "" && drawn,
	} {
		if is {
			n++
		}
	}
	for _, halfOfOne := range []bool{
		d.Before != "" && d.Message != "",
		d.Before == "" && (d.Go != "" || d.Elapse != 0),
		d.Message == "" && (held || hurt || drawn),
	} {
		if halfOfOne {
			n += 2
		}
	}
	return n
}

// treatment fills in what happens to the messages.
func (d Decision) treatment(e strategy.Exception) (strategy.Exception, string, string) {
	switch {
	case d.Go != "":
		e.Outcome = sim.Proceed
	case d.Elapse != 0:
		e.Outcome, e.Times = sim.Elapse, d.Elapse
	case d.Delay.Duration != 0:
		e.Outcome, e.Level, e.Times = sim.Delay, nearestRung(d.Delay.Duration), d.After
	case d.Draw != 0:
		e.Outcome, e.Level = sim.Proceed, d.Draw
	default:
		if problem := badFault(d.Fault); problem != "" {
			return e, "fault", problem
		}
		e.Outcome, _ = sim.ParseOutcome(d.Fault)
		return d.in(e)
	}
	return e, "", ""
}

// in fills in the way of a fault.
func (d Decision) in(e strategy.Exception) (strategy.Exception, string, string) {
	if d.Way == "" {
		return e, "", ""
	}
	if !hasWays(e.Outcome) {
		return e, "way", "only for fail-before and lose-reply"
	}
	if problem := badWay(d.Way); problem != "" {
		return e, "way", problem
	}
	w, _ := way.Parse(d.Way)
	e.Level = int(w)
	return e, "", ""
}

func (d Decision) check(c *check, p path) {
	_, field, problem := d.exception()
	if field != "." {
		p = p.Then(field)
	}
	c.must(problem, p)
}
