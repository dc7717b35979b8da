package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"ipamsim/model"
)

// bytesMax bounds the file of a record: a run at the limit of 200,000 steps
// writes less.
const bytesMax = 512 << 20

// Read reads the output of Write from an untrusted source. It checks all numbers that the page
// relies on; texts may be anything.
//
// Its error names the place in the record.
func Read(r io.Reader) (*Record, error) {
	limited := &io.LimitedReader{R: r, N: bytesMax + 1}
	dec := json.NewDecoder(limited)
	rec := &Record{}
	err := dec.Decode(rec)
	if err == nil {
		_, err = dec.Token() // nothing may follow
		if errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			err = errors.New("want one record, have more behind it")
		}
	}
	if limited.N <= 0 {
		return nil, fmt.Errorf("want at most %d MiB, have more", bytesMax>>20)
	}
	if err != nil {
		return nil, notJSON(err)
	}
	for i := range rec.Violations {
		rec.Violations[i].Violation.At = rec.Violations[i].At
	}
	return rec, rec.check()
}

// notJSON is an error of package json in words for people.
func notJSON(err error) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return fmt.Errorf("want a record, have %s", wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("%s: want %s, have %s", wrong.Field, wrong.Type, wrong.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("no JSON: at byte %d: %w", syntax.Offset, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("no JSON: it ends too early")
	}
	return err
}

func (r *Record) check() error {
	if r.Format != Format {
		return fmt.Errorf("format: want %q, have %q", Format, r.Format)
	}
	if r.Virtual < 0 {
		return fmt.Errorf("virtual: want a time from 0, have %d", r.Virtual)
	}
	last := time.Duration(0)
	for i, s := range r.Steps {
		if s.Sent < 0 || s.Sent > s.At {
			return fmt.Errorf("steps[%d].sent: want a time up to %s, have %s", i, s.At, s.Sent)
		}
		if s.Site < 0 || s.Site > len(r.Sites) {
			return fmt.Errorf("steps[%d].site: want one of %d, have %d", i, len(r.Sites), s.Site)
		}
		if s.Step != i+1 || s.At < last {
			return fmt.Errorf("steps[%d]: want step %d, not before %s; have step %d at %s", i, i+1, last, s.Step, s.At)
		}
		last = s.At
	}
	if err := r.checkEvents(); err != nil {
		return err
	}
	for i, h := range r.Addresses {
		if _, err := netip.ParseAddr(h.Addr); err != nil {
			return fmt.Errorf("addresses[%d].addr: want an IP address, have %q", i, h.Addr)
		}
		for j, s := range h.Spans {
			if !r.within(s.From, s.Since) || !r.within(s.To, s.Until) || s.Until < s.Since || s.To != 0 && s.To < s.From {
				return fmt.Errorf("addresses[%d].spans[%d]: want an end after the beginning, within the run; have step %d to %d", i, j, s.From, s.To)
			}
		}
	}
	if err := r.Recording.Check(); err != nil {
		return fmt.Errorf("film: %w", err)
	}
	if n := len(r.Recording.Frames); n > 0 && !r.within(r.Recording.Frames[n-1].Step, 0) {
		return fmt.Errorf("film: want frames of %d steps, have one of step %d", len(r.Steps), r.Recording.Frames[n-1].Step)
	}
	return nil
}

func (r *Record) checkEvents() error {
	last := 0
	for i, e := range r.Events {
		if e.Step < last || !r.within(e.Step, e.At) {
			return fmt.Errorf("events[%d]: want one of steps %d to %d, have step %d at %s", i, last, len(r.Steps), e.Step, e.At)
		}
		last = e.Step
	}
	for i, v := range r.Violations {
		if !r.within(v.Step, v.At) {
			return fmt.Errorf("violations[%d]: want a step up to %d, have %d", i, len(r.Steps), v.Step)
		}
		for j := range v.Races {
			if race := &v.Races[j]; !race.Ordered(v.Step) || j >= model.RacesMax {
				return fmt.Errorf("violations[%d].races[%d]: want at most %d, of steps in the order read, change, use, up to %d; have %d, %d, %d", i, j, model.RacesMax, v.Step, race.Read, race.Change, race.Use)
			}
		}
		for j, t := range v.Turns {
			if !r.within(t.Step, t.At) {
				return fmt.Errorf("violations[%d].turns[%d]: want a step up to %d, have %d", i, j, len(r.Steps), t.Step)
			}
		}
	}
	for i, s := range r.Screens {
		if !r.within(s.Step, s.At) {
			return fmt.Errorf("screens[%d]: want a step up to %d, have %d", i, len(r.Steps), s.Step)
		}
	}
	return nil
}

// within reports whether there is such a step and time in the run.
func (r *Record) within(step int, at time.Duration) bool {
	return step >= 0 && step <= len(r.Steps) && at >= 0
}
