package capacity

import (
	"net/netip"

	"ipamsim/model"
	"ipamsim/model/capacity/workload"
)

// claimed are the addresses of a record by the sandbox that they are claimed for.
type claimed map[claim]bool

type claim struct {
	container string
	addr      netip.Addr
}

func claimsOf(record *model.Snapshot) claimed {
	if record == nil {
		return nil
	}
	out := make(claimed, len(record.Claims))
	for i := range record.Claims {
		out[claim{record.Claims[i].Container, record.Claims[i].Addr}] = true
	}
	return out
}

// lacking is how many addresses of a pod are claimed for nobody, or for somebody else:
// another CNI's, or one that two pods have.
func (c claimed) lacking(r *workload.Resident) (n int) {
	for _, a := range r.Addrs {
		if !c[claim{r.Container, a}] {
			n++
		}
	}
	return n
}
