package scenarios

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/strategy"
)

// Schedule is a recorded run. Its decisions are either those that depart from the
// default order (strategy.Sparse), or all of them, as picks.
type Schedule struct {
	Upstream string `json:"upstream" jsonschema:"required"` // module@version it was recorded with
	Digest   string `json:"digest" jsonschema:"required"`
	Seed     uint64 `json:"seed"`
	// Steps is after which step the recording ends; 0: when the script does.
	Steps int `json:"steps,omitempty"`
	// Instant is as what time passes through: what timers send within one multiple of it
	// waits together. Only ipamsim verify records with one.
	Instant metav1.Duration `json:"instant,omitzero"`
	// Decisions that depart from the default order: stay with the process that sent
	// a message last, else deliver the oldest message, else let time pass.
	Decisions []Decision `json:"decisions,omitempty"`
	// Races are the orders of messages that decide, as they were tried when this was found.
	Races []model.Race `json:"races,omitempty"`
	// Picks are all decisions, run-length encoded: "0*12 3 0*7 1".
	Picks string `json:"picks,omitempty"`
}

// decisionsMax bounds what a hostile file can make us allocate.
const decisionsMax = 1_000_000

func (s *Schedule) check(c *check, p path) {
	c.bad(s.Upstream == "", p.Then("upstream"), "empty, want module@version")
	c.bad(!digest.MatchString(s.Digest), p.Then("digest"), "%s is no digest, want 16 hexadecimal digits", strict.Quote(s.Digest))
	c.bad(s.Steps < 0, p.Then("steps"), "must not be negative")
	c.bad(s.Instant.Duration < 0 || s.Instant.Duration > time.Second, p.Then("instant"), "want 0s to 1s")
	c.bad(s.Picks != "" && len(s.Decisions) > 0, p.Then("picks"), "either picks or decisions, not both")
	if err := checkPicks(s.Picks); err != nil {
		c.bad(true, p.Then("picks"), "%s", strict.OneLine(err))
	}
	s.checkRaces(c, p.Then("races"))
	c.bad(len(s.Decisions) > decisionsMax, p.Then("decisions"), "%d decisions, want at most %d", len(s.Decisions), decisionsMax)
	for i, d := range s.Decisions {
		d.check(c, p.Then("decisions").Then(i))
	}
}

// checkRaces: only what names an invariant and steps of the run can be shown.
func (s *Schedule) checkRaces(c *check, p path) {
	c.bad(len(s.Races) > model.RacesMax, p, "%d races, want at most %d", len(s.Races), model.RacesMax)
	for i := range s.Races {
		r := &s.Races[i]
		inv, known := invariant.Named(r.Invariant)
		c.must(badInvariant(r.Invariant), p.Then(i).Then("invariant"))
		var codes []string
		for _, k := range inv.Kinds {
			codes = append(codes, strict.Quote(k.Code))
		}
		c.bad(known && inv.Sentence(r.Code) == "", p.Then(i).Then("code"), "%s is no way in which %s breaks, want %s", strict.Quote(r.Code), r.Invariant, strings.Join(codes, " or "))
		c.bad(!r.Ordered(cmp.Or(s.Steps, decisionsMax)), p.Then(i), "read %d, change %d, use %d: want steps of the recording in that order", r.Read, r.Change, r.Use)
	}
}

// racesOf returns the races of a recorded run if rep is that run: those of another run were not tried.
func (s *Schedule) racesOf(rep *reports.Report) []model.Race {
	if rep.Digest != s.Digest {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Races), func(r model.Race) bool { return !r.Ordered(len(rep.Trace.Steps)) })
}

var (
	digest = regexp.MustCompile(`^[0-9a-f]{16}$`)
	pick   = regexp.MustCompile(`^\d{1,9}(\*\d{1,8})?$`)
)

// checkPicks reads a schedule once, so that a run cannot fail on it.
func checkPicks(s string) error {
	for _, f := range strings.Fields(s) {
		if !pick.MatchString(f) {
			return errors.New("pick " + strict.Quote(f) + ": want N or N*COUNT")
		}
	}
	_, err := ParsePicks(s)
	return err
}

// follow makes the strategy that repeats the recorded run.
func (s *Schedule) follow() follower {
	if s.Picks != "" {
		picks, _ := ParsePicks(s.Picks) // checked by Load
		return strategy.NewReplay(picks)
	}
	return strategy.NewSparse(s.Exceptions())
}

// Exceptions are the decisions as strategy.Sparse takes them.
func (s *Schedule) Exceptions() []strategy.Exception {
	var out []strategy.Exception
	for _, d := range s.Decisions {
		if e, field, _ := d.exception(); field == "" { // checked by Load
			out = append(out, e)
		}
	}
	return out
}
