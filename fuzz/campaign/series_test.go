package campaign

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/reports/index"
)

// TestSeries: the samples of any campaign are in the order of time, not too many, and end with the
// current state. The gaps between them are not much longer than the interval, unless nothing
// happened.
func TestSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s series
		pace := time.Duration(rapid.Int64Range(1, int64(10*time.Minute)).Draw(t, "pace"))
		n := rapid.IntRange(1, 20*samplesMax).Draw(t, "samples")
		var x index.Sample
		for i := range n {
			x = index.Sample{At: time.Duration(i) * pace, Runs: uint64(i), Findings: i / 100}
			if i > 0 && i%97 == 0 {
				x.At -= 2 * pace // the server's clock is set back
			}
			s.add(x)
		}
		last := s.all[len(s.all)-1]
		if last.Runs != x.Runs || len(s.all) > samplesMax || s.all[0].At != 0 {
			t.Fatalf("%d samples from %v to %v, of %d", len(s.all), s.all[0], last, n)
		}
		if !slices.IsSortedFunc(s.all, func(a, b index.Sample) int { return int(min(max(a.At-b.At, -1), 1)) }) {
			t.Fatalf("not in the order of time: %v", s.all)
		}
		if n > 2*samplesMax && len(s.all) < samplesMax/4 {
			t.Fatalf("%d samples are left of %d", len(s.all), n)
		}
		for i := 1; i < len(s.all); i++ {
			if d := s.all[i].At - s.all[i-1].At; d > 2*s.gap+2*pace {
				t.Fatalf("%v are missing before %v, others are %v apart", d, s.all[i].At, s.gap)
			}
		}
	})
}

// TestSeriesOfEpochs: a campaign that was killed resumes, and the time in between does not count. Results
// of an earlier epoch do not count either.
func TestSeriesOfEpochs(t *testing.T) {
	s := newState()
	for _, l := range []struct {
		queue.Event
		at int
	}{
		{epoch(1), 0}, {explored(1, 1, 10, 10), 4}, {explored(1, 11, 10, 10), 10}, // killed
		{epoch(2), 1000}, {explored(1, 21, 10, 10), 1001}, {explored(2, 21, 10, 10), 1005}, {queue.Event{End: "time is up"}, 1006},
		{epoch(3), 5000}, {explored(3, 31, 10, 10), 5002},
	} {
		s.apply(l.Event, at(l.at))
	}
	var got []index.Sample
	for _, x := range s.series.all {
		got = append(got, index.Sample{At: x.At, Runs: x.Runs})
	}
	want := []index.Sample{
		{}, {At: 4 * time.Second, Runs: 10}, {At: 10 * time.Second, Runs: 20}, {At: 10 * time.Second, Runs: 20},
		{At: 15 * time.Second, Runs: 30}, {At: 16 * time.Second, Runs: 30}, {At: 16 * time.Second, Runs: 30}, {At: 18 * time.Second, Runs: 40},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant\n%v", got, want)
	}
}
