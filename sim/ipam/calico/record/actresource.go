package record

import (
	"fmt"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"

	"ipamsim/model/act"
)

// config adds the IPAM configuration, under calicoctl's names.
func (m *message) config(a *act.Act) (known bool) {
	v, ok := m.value().(*bmodel.IPAMConfig)
	a.Thing = act.Thing{Kind: act.IPAMConfig}
	if !ok {
		return false
	}
	for _, s := range []struct {
		name  string
		value any
	}{{"StrictAffinity", v.StrictAffinity}, {"AutoAllocateBlocks", v.AutoAllocateBlocks}, {"MaxBlocksPerHost", v.MaxBlocksPerHost}} {
		a.Thing.Parts = append(a.Thing.Parts, act.Thing{Kind: act.Setting, Name: s.name, State: fmt.Sprint(s.value)})
	}
	return true
}

// resource adds an object that is stored under its own name: pools, reservations, nodes and the
// rest of Calico's configuration.
func (m *message) resource(k bmodel.ResourceKey, a *act.Act) {
	a.Thing = act.Thing{Kind: act.Kind(k.Kind), Of: title, Name: k.Name}
	switch v := m.value().(type) {
	case *apiv3.IPPool:
		a.Thing = poolThing(k.Name, v)
	case *apiv3.IPReservation:
		a.Thing = reservationThing(k.Name, v)
	}
}

func poolThing(name string, p *apiv3.IPPool) act.Thing {
	t := act.Thing{Kind: act.IPPool, Name: name, Range: p.Spec.CIDR}
	if p.Spec.Disabled {
		t.State = act.Disabled
	}
	return t
}

func reservationThing(name string, r *apiv3.IPReservation) act.Thing {
	t := act.Thing{Kind: act.IPReservation, Name: name}
	for _, cidr := range r.Spec.ReservedCIDRs {
		t.Parts = append(t.Parts, act.Thing{Kind: act.Range, Name: cidr})
	}
	return t
}
