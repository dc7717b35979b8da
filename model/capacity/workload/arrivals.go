package workload

import (
	"math"
	"math/rand/v2"
	"time"
)

// Arrivals are pods in addition to those that run all the time: pods of Jobs, CronJobs and
// pipelines, and bare pods. A pod that ends is not replaced; a pod whose node is drained or
// lost is.
type Arrivals struct {
	// PerHour is how many pods come in an hour, on average over a week; 0: none.
	PerHour float64
	// Batch is the mean number of pods that arrive at the same time, at least 1; 0 means 1.
	// The number is geometric: mostly few, sometimes many.
	Batch float64
	// Hours weighs the 24 hours of a day, and Weekdays the seven days from Monday on;
	// nil is even. Only proportions matter.
	Hours, Weekdays []float64
	Lifetimes       Lifetimes
	// Running is the number of them that run at the beginning; 0: the average.
	Running int
}

const (
	hoursOfDay  = 24
	daysOfWeek  = 7
	hoursOfWeek = hoursOfDay * daysOfWeek
)

// Week is how many pods come in each hour of a week, from Monday 00:00 on.
func (a *Arrivals) Week() [hoursOfWeek]float64 {
	var out [hoursOfWeek]float64
	sum := 0.0
	for i := range out {
		out[i] = weight(a.Weekdays, i/hoursOfDay) * weight(a.Hours, i%hoursOfDay)
		sum += out[i]
	}
	for i := range out {
		if out[i] *= a.PerHour * hoursOfWeek; sum > 0 {
			out[i] /= sum
		}
	}
	return out
}

func weight(all []float64, i int) float64 {
	if i >= len(all) {
		return 1
	}
	return all[i]
}

// Standing is how many run on average.
func (a *Arrivals) Standing() float64 {
	if a.PerHour <= 0 || !a.Lifetimes.Given() {
		return 0
	}
	return a.PerHour * a.Lifetimes.Mean().Hours()
}

// stream draws arrivals.
type stream struct {
	week   [hoursOfWeek]float64 // batches an hour
	batch  float64
	begins time.Duration // of the plan, in its week
	r      *rand.Rand
}

func newStream(l *Load, r *rand.Rand) *stream {
	s := &stream{week: l.Arrivals.Week(), batch: max(l.Arrivals.Batch, 1), begins: l.Begins, r: r}
	for i := range s.week {
		s.week[i] /= s.batch
	}
	return s
}

// next is the time of the next batch after an instant: rates apply per hour, so the exponential
// time is used up hour by hour.
func (s *stream) next(now time.Duration) time.Duration {
	e := s.r.ExpFloat64()
	for {
		in := (s.begins + now) / time.Hour
		end := (in+1)*time.Hour - s.begins
		rate := s.week[in%hoursOfWeek]
		if used := rate * (end - now).Hours(); used < e {
			e -= used
			now = end
			continue
		}
		return now + time.Duration(e/rate*float64(time.Hour))
	}
}

// size of a batch.
func (s *stream) size() int {
	if s.batch == 1 {
		return 1
	}
	more := math.Log1p(-s.r.Float64()) / math.Log1p(-1/s.batch)
	return 1 + int(min(more, 1e6))
}

// poisson draws a count.
func poisson(r *rand.Rand, mean float64) int {
	d := Distribution{Shape: Poisson, Mean: mean}
	return d.Draw(r)
}
