package space

// Weight is the relative frequency of a strategy.
type Weight struct {
	Name string
	N    int
}

// Strategy draws a strategy by weight.
func (w *World) Strategy(of ...Weight) {
	total := 0
	for _, x := range of {
		total += x.N
	}
	n := w.Int(total)
	for _, x := range of {
		if n -= x.N; n < 0 {
			w.Doc.Spec.Strategy = x.Name
			return
		}
	}
}

// MostlyTimed draws a strategy for managers that wait for time more often than for messages: controllers of
// Services, and kubelet's plugins.
func (w *World) MostlyTimed() {
	w.Strategy(Weight{"timed", 50}, Weight{"stall", 20}, Weight{"random", 20}, Weight{"pct", 5}, Weight{"pos", 5})
}
