package space

// weight is how often of all a strategy is drawn.
type weight struct {
	name string
	n    int
}

// strategy draws one, by weight.
func (w *world) strategy(of ...weight) {
	total := 0
	for _, x := range of {
		total += x.n
	}
	n := w.Int(total)
	for _, x := range of {
		if n -= x.n; n < 0 {
			w.doc.Spec.Strategy = x.name
			return
		}
	}
}
