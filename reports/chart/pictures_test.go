package chart

import (
	"fmt"
	"math"
)

// pictures are one or more of each kind, as a plan has them: the goldens, and what
// other tests draw.
func pictures() map[string]Picture {
	return map[string]Picture{
		"chart":  exhaustion(),
		"legend": growth(),
		"panels": panels(),
		"scale":  shared(),
		"pareto": pareto(),
		"crowd":  crowd(),
		"heat":   heat(),
		"owners": staging(),
		"many":   many(),
		"names":  names(),
		"bars":   bars(),
	}
}

// curve is an S from 0 to 1 with its middle at day mid, and a band around it.
func curve(name string, mid, wide float64) Line {
	l := Line{Name: name}
	for day := 0.0; day <= 30; day++ {
		p := 1 / (1 + math.Exp((mid-day)/wide))
		half := 0.12 * math.Sqrt(p*(1-p)) * 2
		l.Points = append(l.Points, Point{day * 86400, p})
		l.Band = append(l.Band, Range{day * 86400, math.Max(0, p-half), math.Min(1, p+half)})
	}
	return l
}

// exhaustion has few lines that end far from each other: their names are at their ends.
func exhaustion() *Chart {
	return &Chart{
		Title: "Chance that addresses have run out, with 95 % confidence",
		X:     Axis{Label: "time", Duration: true}, Y: Axis{Label: "P(exhausted)", Share: true},
		Lines: []Line{curve("as it is", 9, 2), curve("/27 blocks", 27, 4), curve("one block each", 38, 5)},
	}
}

// growth has as many lines as are distinguishable, under names that want to be markup.
func growth() *Chart {
	c := &Chart{Title: `Runs </svg><script>alert(1)</script>`, X: Axis{Label: "time", Duration: true}, Y: Axis{Label: "runs & more"}}
	for n := range LinesMax {
		l := Line{Name: fmt.Sprintf(`<img src=x> "%d"`, n), Steps: n%2 == 0}
		for i := range 200 {
			l.Points = append(l.Points, Point{float64(i) * 1.5, math.Sqrt(float64(i)) * 100 * float64(n+1)})
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}

// wave is something that goes up and down over 30 days.
func wave(name string, base, high, phase float64, steps bool) Line {
	l := Line{Name: name, Steps: steps}
	for day := 0.0; day <= 30; day++ {
		y := base + high*math.Pow(math.Sin(day/5+phase), 2)
		if steps {
			y = math.Round(y)
		}
		l.Points = append(l.Points, Point{day * 86400, y})
		l.Band = append(l.Band, Range{day * 86400, y * 0.8, y * 1.1})
	}
	return l
}

// panels measure different things of the same options.
func panels() *Panels {
	p := &Panels{Title: "Addresses over time, mean and 5th to 95th percentile", X: Axis{Label: "time", Duration: true}}
	for n, m := range []struct {
		name string
		y    Axis
		base float64
	}{
		{"utilisation", Axis{Label: "of the pool", Share: true}, 0.4}, {"borrowed", Axis{Label: "addresses", Whole: true}, 12},
		{"blackholed", Axis{Label: "pairs", Whole: true}, 300}, {"leaked", Axis{Label: "addresses", Whole: true}, 4},
	} {
		panel := Panel{Title: m.name, Y: m.y}
		for k, option := range []string{"as it is", "strict affinity", "/28 blocks"} {
			if n == 3 && k == 1 {
				continue // it leaks nothing, and it was not measured
			}
			phase := float64(n + k)
			if n == 1 {
				phase = 0 // all three lie on each other
			}
			panel.Lines = append(panel.Lines, wave(option, m.base, m.base/2, phase, n > 0))
		}
		p.Panels = append(p.Panels, panel)
	}
	return p
}

// shared panels measure one thing at different settings.
func shared() *Panels {
	p := &Panels{Title: "Leaked addresses by crash rate", X: Axis{Label: "time", Duration: true}, Y: Axis{Label: "addresses", Whole: true}}
	for n := range 5 {
		p.Panels = append(p.Panels, Panel{Title: fmt.Sprintf("a crash each %dd", 30>>n), Lines: []Line{wave("leaked", 2, float64(int(3)<<n), 0, true)}})
	}
	return p
}

func pareto() *Pareto {
	return &Pareto{
		Title: "What an option costs: waste against routes",
		X:     Axis{Label: "routes (prefixes)", Whole: true}, Y: Axis{Label: "waste (of the addresses in blocks)", Share: true},
		Points: []Named{
			{Name: "as it is (/26)", X: 6, Y: 0.62}, {Name: "/27 blocks", X: 10, Y: 0.38, Recommended: true}, {Name: "/28 blocks", X: 18, Y: 0.21},
			{Name: "64 pods per node", X: 4, Y: 0.37, Fails: true}, {Name: "one block per node", X: 9, Y: 0.66}, {Name: "strict affinity", X: 12, Y: 0.6, Fails: true},
			{Name: "release unused blocks", X: 7, Y: 0.41}, {Name: "/29 blocks", X: 37, Y: 0.12},
		},
	}
}

// crowd has more options than names can be written.
func crowd() *Pareto {
	p := &Pareto{Title: "Every combination", X: Axis{Label: "routes"}, Y: Axis{Label: "stranded (addresses)"}}
	for n := range 120 {
		f := float64(n)
		p.Points = append(p.Points, Named{Name: fmt.Sprintf("combination %d", n), X: 100 + math.Mod(f*37, 101), Y: 50 + math.Mod(f*53, 97), Recommended: n == 35})
	}
	return p
}

// heat has a cell that was not run and one with words for its value.
func heat() *Heat {
	h := &Heat{
		Title: "Chance that addresses run out within 30 days",
		X:     Axis{Label: "nodes"}, Y: Axis{Label: "pods per node"}, Z: Axis{Label: "P(exhausted)", Share: true},
	}
	for n := range 7 {
		h.X.Names = append(h.X.Names, fmt.Sprint(2+n*2))
	}
	for n := range 5 {
		h.Y.Names = append(h.Y.Names, fmt.Sprint(30+n*20))
	}
	for x := range h.X.Names {
		for y := range h.Y.Names {
			if x == 6 && y > 2 {
				continue
			}
			h.Tiles = append(h.Tiles, Tile{X: x, Y: y, Z: 1 / (1 + math.Exp(6-float64(x+y*2)))})
		}
	}
	h.Tiles[0].Text = "never"
	return h
}

// staging is a /24 in four blocks: two nodes take two each, and the last ones get none.
func staging() *Owners {
	o := &Owners{Title: "Whose the blocks of 10.64.75.0/24 are", X: Axis{Label: "time", Duration: true}, Nodes: []string{"kubestage1001", "kubestage1002", "kubestage1003"}}
	for b := range 4 {
		o.Blocks = append(o.Blocks, fmt.Sprintf("10.64.75.%d/26", b*64))
	}
	for n := range 61 {
		o.Times = append(o.Times, float64(n)*3600)
		row := []int32{1, 0, 0, 2}
		if n >= 10 {
			row[1] = 2
		}
		if n >= 30 {
			row[2] = 1
		}
		if n >= 50 {
			row[3] = 3
		}
		o.Owner = append(o.Owner, row)
		marks := make([]Mark, 4)
		if n >= 30 {
			marks[0] = Borrowed
		}
		if n >= 45 && n < 50 {
			marks[3] = Empty
		}
		o.Marks = append(o.Marks, marks)
	}
	return o
}

// many is as large as a map may be.
func many() *Owners {
	o := &Owners{Title: "Whose 256 blocks are", X: Axis{Label: "time", Duration: true}}
	for n := range 40 {
		o.Nodes = append(o.Nodes, fmt.Sprintf("worker-%d", n))
	}
	for b := range BlocksMax {
		o.Blocks = append(o.Blocks, fmt.Sprintf("10.%d.%d.0/26", 64+b/64, b%64*4))
	}
	for n := range 200 {
		o.Times = append(o.Times, float64(n)*86400/200*30)
		row := make([]int32, BlocksMax)
		for b := range row {
			if phase := (b*31 + n) / 40; b < 40+n {
				row[b] = int32((b*7 + phase*3) % 41)
			}
		}
		o.Owner = append(o.Owner, row)
	}
	return o
}

func bars() *Bars {
	return &Bars{
		Title: "Stranded addresses by option, mean and 95 % interval", X: Axis{Label: "addresses"},
		Bars: []Bar{
			{"as it is", 41.5, 36, 47}, {"64 pods per node", 41.5, 36, 47}, {"one block per node", 12, 8, 15.5}, {"/27 blocks", 18, 15, 22},
			{"strict affinity and release of unused blocks", 55.25, 50, 61}, {"/28 blocks", 0, 0, 0},
		},
	}
}

// names has a word for each column, and seconds for values.
func names() *Heat {
	h := &Heat{Title: "Median time until no address is left", X: Axis{Label: "option", Names: []string{"as it is", "64 pods per node", "one block per node", "strict affinity", "/28 blocks"}},
		Y: Axis{Label: "reconciler every", Names: []string{"never", "1d", "1h", "5m"}}, Z: Axis{Label: "time", Duration: true}}
	for x := range h.X.Names {
		for y := range h.Y.Names {
			h.Tiles = append(h.Tiles, Tile{X: x, Y: y, Z: 5000 * math.Pow(float64(1+x), float64(1+y))})
		}
	}
	return h
}
