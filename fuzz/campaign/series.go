package campaign

import (
	"time"

	"ipamsim/reports/index"
)

// series is the campaign's progress over time, from its log: samples at about equal intervals,
// which double when there are too many. The last sample is the current state.
type series struct {
	gap time.Duration
	all []index.Sample
}

// samplesMax is enough for a chart.
const samplesMax = 500

// add adds a sample that is not older than the last one.
func (s *series) add(x index.Sample) {
	n := len(s.all)
	if n > 0 {
		x.At = max(x.At, s.all[n-1].At) // a server's clock may be set back
	}
	if n > 1 && x.At-s.all[n-2].At <= s.gap {
		s.all[n-1] = x
		return
	}
	if s.all = append(s.all, x); len(s.all) > samplesMax {
		s.thin()
	}
}

// thin removes samples, but neither the first nor the last, and widens the interval.
func (s *series) thin() {
	length := s.all[len(s.all)-1].At - s.all[0].At
	s.gap = max(2*s.gap, 2*length/samplesMax)
	kept := s.all[:1]
	for i := 1; i < len(s.all)-1; i++ {
		if s.all[i].At-kept[len(kept)-1].At >= s.gap {
			kept = append(kept, s.all[i])
		}
	}
	s.all = append(kept, s.all[len(s.all)-1])
}
