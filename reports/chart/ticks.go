package chart

import (
	"math"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"
)

// counts are ticks at 1, 2 or 5 times a power of ten, written 2k, 1.5M.
func counts(from, to float64, most int) []plot.Tick {
	return ticks(from, to, stepOf(from, to, most), most, number)
}

// wholes are counts of what is not divided.
func wholes(from, to float64, most int) []plot.Tick {
	return ticks(from, to, max(1, stepOf(from, to, most)), most, number)
}

// shares are parts of one in per cent; an axis that ends at one has room above it.
func shares(from, to float64, most int) []plot.Tick {
	return ticks(from, math.Max(1, math.Floor(to*10)/10-0.1), stepOf(from, to, most), most, share)
}

// named are labels of each so-many-th of 0, 1, 2, ….
func named(n, every int, label func(int) string) plot.ConstantTicks {
	var out plot.ConstantTicks
	for i := 0; i < n; i += every {
		out = append(out, plot.Tick{Value: float64(i), Label: label(i)})
	}
	return out
}

func stepOf(from, to float64, most int) float64 {
	step := math.Pow(10, math.Floor(math.Log10((to-from)/float64(most))))
	for _, m := range []float64{1, 2, 5, 10} {
		if (to-from)/(step*m) <= float64(most) {
			return step * m
		}
	}
	return step
}

// number is short: 0.5, 30, 2k, 1.5M.
func number(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= u.size {
			return strconv.FormatFloat(v/u.size, 'g', 4, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// share is a part of one in per cent: 7%, 0.25%.
func share(v float64) string {
	return number(rounded(v*100)) + "%"
}

// whole steps of time, in seconds.
var whole = []float64{
	0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600,
	6 * 3600, 12 * 3600, day, 2 * day, 5 * day, 10 * day, 20 * day, 30 * day, 60 * day, 90 * day, 180 * day, 360 * day,
}

const day = 24 * 3600

// durations are ticks at whole seconds, minutes, hours or days.
func durations(from, to float64, most int) []plot.Tick {
	step := whole[len(whole)-1]
	for _, s := range whole {
		if (to-from)/s <= float64(most) {
			step = s
			break
		}
	}
	for (to-from)/step > float64(most) {
		step *= 2
	}
	return ticks(from, to, step, most, duration)
}

// duration of seconds without the parts that are zero: 90s is 1m30s, 36h is 1d12h.
func duration(seconds float64) string {
	if math.Abs(seconds) >= 1e9 {
		return strconv.FormatFloat(seconds, 'g', 3, 64) + "s"
	}
	days := math.Trunc(seconds / day)
	if seconds -= days * day; days != 0 && seconds == 0 {
		return strconv.FormatFloat(days, 'f', -1, 64) + "d"
	}
	d := time.Duration(math.Round(seconds*1e3)) * time.Millisecond
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	if days != 0 {
		s = strconv.FormatFloat(days, 'f', -1, 64) + "d" + s
	}
	return s
}

// longish is about how long so many seconds are: 45s, 1.5m, 7.2h, 12d.
func longish(seconds float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{day, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}} {
		if math.Abs(seconds) >= u.size {
			return number(math.Round(seconds/u.size*10)/10) + u.name
		}
	}
	return strconv.FormatFloat(seconds, 'g', 2, 64) + "s"
}

// percent is about which share: 7%, and >99% for what is nearly all.
func percent(v float64) string {
	switch {
	case v > 0 && v < 0.01:
		return "<1%"
	case v > 0.99 && v < 1:
		return ">99%"
	}
	return number(math.Round(v*100)) + "%"
}

func ticks(from, to, step float64, most int, label func(float64) string) []plot.Tick {
	var out []plot.Tick
	for n := math.Ceil(from / step); n*step <= to+step*1e-9 && len(out) <= 2*most; n++ {
		v := rounded(n * step)
		out = append(out, plot.Tick{Value: v, Label: label(v)})
	}
	return out
}
