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

// lacking returns how many addresses of a pod are not claimed for it: they are unclaimed,
// claimed for another CNI's pod, or claimed for two pods.
func (c claimed) lacking(r *workload.Resident) (n int) {
	for _, a := range r.Addrs {
		if !c[claim{r.Container, a}] {
			n++
		}
	}
	return n
}
