package chart

import (
	"math"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"
)

// ticksMax is how many labels an axis has room for.
const ticksMax = 7

// counts are ticks at 1, 2 or 5 times a power of ten, written 2k, 1.5M.
func counts(from, to float64) []plot.Tick {
	return ticks(from, to, stepOf(from, to), number)
}

// wholes are counts of what is not divided.
func wholes(from, to float64) []plot.Tick {
	return ticks(from, to, max(1, stepOf(from, to)), number)
}

func stepOf(from, to float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10((to-from)/ticksMax)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (to-from)/(step*m) <= ticksMax {
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

// whole steps of time, in seconds.
var whole = []float64{
	0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600,
	6 * 3600, 12 * 3600, 24 * 3600,
}

// durations are ticks at whole seconds, minutes, hours or days.
func durations(from, to float64) []plot.Tick {
	step := whole[len(whole)-1]
	for _, s := range whole {
		if (to-from)/s <= ticksMax {
			step = s
			break
		}
	}
	for (to-from)/step > ticksMax {
		step *= 2
	}
	return ticks(from, to, step, duration)
}

// duration of seconds without the parts that are zero: 90s is 1m30s, 2h is 2h.
func duration(seconds float64) string {
	if days := seconds / (24 * 3600); days >= 1 && days == math.Trunc(days) {
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

func ticks(from, to, step float64, label func(float64) string) []plot.Tick {
	var out []plot.Tick
	for n := math.Ceil(from / step); n*step <= to+step*1e-9 && len(out) <= 2*ticksMax; n++ {
		v := n * step
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64) // 0.3, not 0.30000000000000004
		out = append(out, plot.Tick{Value: v, Label: label(v)})
	}
	return out
}
