package chart

import (
	"math"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"
)

// ticksMax is how many labels an axis has room for that is as long as a picture is wide.
const ticksMax = 7

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

// named are the names of 0, 1, 2, …: all of them, or each so-many-th if there are too many.
func named(names []string, most int) []plot.Tick {
	every := (len(names) + most - 1) / most
	var out []plot.Tick
	for n := 0; n < len(names); n += max(1, every) {
		out = append(out, plot.Tick{Value: float64(n), Label: shown(names[n])})
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

// share of one in per cent, with at most four digits: 7%, 0.25%.
func share(v float64) string {
	return strconv.FormatFloat(rounded(v*100), 'g', 4, 64) + "%"
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

// duration of seconds without the parts that are zero: 90s is 1m30s, 2h is 2h.
func duration(seconds float64) string {
	if days := seconds / day; days >= 1 && days == math.Trunc(days) {
		return strconv.FormatFloat(days, 'f', -1, 64) + "d"
	}
	if math.Abs(seconds) >= 1e9 {
		return strconv.FormatFloat(seconds, 'g', 3, 64) + "s"
	}
	d := time.Duration(math.Round(seconds*1e3)) * time.Millisecond
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func ticks(from, to, step float64, most int, label func(float64) string) []plot.Tick {
	var out []plot.Tick
	for n := math.Ceil(from / step); n*step <= to+step*1e-9 && len(out) <= 2*most; n++ {
		v := rounded(n * step)
		out = append(out, plot.Tick{Value: v, Label: label(v)})
	}
	return out
}
