package space

// Weight is how often of all a strategy is drawn.
type Weight struct {
	Name string
	N    int
}

// Strategy draws one, by weight.
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
