package mixed

import "ipamsim/sim/ipam"

// Sources are those of both.
func (a adapter) Sources() (out []ipam.Source) {
	for _, one := range []ipam.Adapter{a.first, a.second} {
		if s, ok := one.(ipam.Sourced); ok {
			out = append(out, s.Sources()...)
		}
	}
	return out
}
