package calico

import (
	"fmt"
	"strings"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
)

// config tells of the IPAM configuration, under calicoctl's names.
func (m *message) config() string {
	v, _ := m.value().(*bmodel.IPAMConfig)
	switch {
	case m.act == get && m.outcome == absent:
		return "sees that there is no IPAM configuration"
	case m.act == get && v != nil:
		return "reads the IPAM configuration: " + settingsText(v)
	case m.act == get:
		return "asks for the IPAM configuration"
	case m.act == remove:
		return "deletes the IPAM configuration" + m.refusal("configuration")
	case m.act == hear:
		return ""
	case v != nil:
		return "writes the IPAM configuration: " + settingsText(v) + m.condition() + m.refusal("configuration")
	}
	return ""
}

func settingsText(c *bmodel.IPAMConfig) string {
	return fmt.Sprintf("StrictAffinity %t, AutoAllocateBlocks %t, MaxBlocksPerHost %d", c.StrictAffinity, c.AutoAllocateBlocks, c.MaxBlocksPerHost)
}

// resource tells of what is stored under its own name: pools, reservations, nodes
// and the rest of Calico's configuration.
func (m *message) resource(k bmodel.ResourceKey) string {
	what := k.Kind + " " + k.Name
	switch k.Kind {
	case apiv3.KindIPPool:
		what = "pool " + k.Name
		if p, ok := m.value().(*apiv3.IPPool); ok && m.act != remove {
			what += " " + poolText(p)
		}
	case libapiv3.KindNode:
		what = "Calico's node " + k.Name
		if m.act == get && m.outcome == done {
			return "reads " + what
		}
	case apiv3.KindIPReservation:
		what = "reservation " + k.Name
		if r, ok := m.value().(*apiv3.IPReservation); ok && m.act != remove {
			what += " of " + strings.Join(r.Spec.ReservedCIDRs, ", ")
		}
	}
	switch {
	case m.act == get && m.outcome == absent:
		return "sees that there is no " + what
	case m.act == get && m.outcome == done:
		return "reads " + what
	case m.act == get:
		return "asks for " + what
	case m.act == create:
		return "creates " + what + m.refusal("object")
	case m.act == update:
		return "changes " + what + m.condition() + m.refusal("object")
	case m.act == remove:
		return "deletes " + what + m.refusal("object")
	case m.act == hear && m.gone:
		return "hears that " + what + " was deleted"
	case m.act == hear:
		return "hears of " + what
	}
	return ""
}

// poolText is what one wants to know of a pool.
func poolText(p *apiv3.IPPool) string {
	s := p.Spec.CIDR
	if p.Spec.Disabled {
		s += " (disabled)"
	}
	return s
}
