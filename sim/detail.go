package sim

// Long is a Detail that a trace may shorten, because it could fill the memory: a cluster of a
// thousand nodes reads every block repeatedly.
type Long interface {
	// Size is about how many bytes it keeps. The same Detail is as long in every run.
	Size() int
	// Short returns the detail without its long content: the request, its target and the outcome,
	// without the data that was sent or returned.
	Short() any
}

// detailsMax is the default bound of the Details of a trace. The largest run of the library keeps 9
// MiB. A process that lets its heap grow to five times the live data (scenarios.NewRunner) needs
// five times as much for them.
const detailsMax = 256 << 20

// detailShare limits one Detail to this fraction of what all may keep: long lists, which
// readers skip, must not displace hundreds of other details.
const detailShare = 256

// details are the long ones that a trace still has, in the order of their steps.
type details struct {
	kept []kept
	size int // of all of them
}

type kept struct {
	step *Step
	size int
}

// keep enforces the bound on Details after a new one: it shortens the new one if that alone is
// too long, and then the oldest until all fit. A report shows the end of a run and what led to
// it, so the oldest go first.
func (d *details) keep(s *Step, most int) {
	l, ok := s.Detail.(Long)
	if !ok {
		return
	}
	n := l.Size()
	if n > most/detailShare {
		s.Detail = l.Short()
		return
	}
	d.kept, d.size = append(d.kept, kept{s, n}), d.size+n
	for d.size > most {
		old := d.kept[0]
		old.step.Detail = old.step.Detail.(Long).Short()
		d.kept, d.size = d.kept[1:], d.size-old.size
	}
}
