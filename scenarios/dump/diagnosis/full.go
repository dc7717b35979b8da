package diagnosis

import (
	"fmt"
	"io"
	"net/netip"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios"
)

// Full is a range with at most a tenth free.
type Full struct {
	Range       netip.Prefix
	Slice       int // the prefix length of its podCIDRs; 0: it is a range of Service addresses
	Taken, Most int // podCIDRs or addresses
}

// FullOf returns the ranges that are nearly full: those of nodes, then those of Services, sorted.
func FullOf(v *scenarios.View) (out []Full) {
	add := func(x Full) {
		if x.Most > 0 && (x.Most-x.Taken)*10 <= x.Most {
			out = append(out, x)
		}
	}
	for i := range v.Networks {
		for j := range v.Networks[i].Ranges {
			if r := &v.Networks[i].Ranges[j]; r.Slice > 0 {
				free, most := invariant.FreeSlices(r, v.Record.Pools)
				add(Full{r.Prefix.Masked(), r.Slice, most - free, most})
			}
		}
	}
	if s := v.Record.Services; s != nil {
		for _, p := range s.Ranges {
			add(addressesOf(s, p))
		}
	}
	return out
}

// addressesOf counts the IPAddresses of a ServiceCIDR. Its first address is never assigned,
// nor is the last one in IPv4.
func addressesOf(s *model.Services, p netip.Prefix) Full {
	x := Full{Range: p.Masked()}
	switch bits := p.Addr().BitLen() - p.Bits(); {
	case bits > 24:
		return x // too large to fill
	case p.Addr().Is4():
		x.Most = 1<<bits - 2
	default:
		x.Most = 1<<bits - 1
	}
	for _, c := range s.Claims {
		if p.Contains(c.Addr) {
			x.Taken++
		}
	}
	return x
}

// String renders the range as a sentence without a period.
func (x Full) String() string {
	if x.Slice > 0 {
		return fmt.Sprintf("%s: %d of %d podCIDRs of /%d are taken", x.Range, x.Taken, x.Most, x.Slice)
	}
	return fmt.Sprintf("%s: %d of %d Service addresses are taken", x.Range, x.Taken, x.Most)
}

func (f *Findings) writeFull(w io.Writer) {
	for i, x := range f.Full {
		if shown := f.Style.shown(len(f.Full)); i == shown {
			fmt.Fprintf(w, "nearly full: %d more; --all lists them\n", len(f.Full)-shown)
			break
		}
		fmt.Fprintf(w, "nearly full: %s\n", x)
	}
}
