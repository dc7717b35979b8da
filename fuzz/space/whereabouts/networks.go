package whereabouts

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"

	fuzz "github.com/google/gofuzz"

	"ipamsim/fuzz/space"
)

// network is a NetworkAttachmentDefinition of Whereabouts.
type network struct {
	namespace, name string
	conf            ipamSection
}

func (n network) key() string { return n.namespace + "/" + n.name }

// ipamSection is the ipam part of a CNI configuration: every field of Whereabouts that affects its
// behavior. Nil and "" omit a field.
//
// Source: whereabouts pkg/types, IPAMConfig (v0.9.4). fuzz/space/fields*_test.go lists the omitted
// fields, with the reasons.
type ipamSection struct {
	Type string `json:"type"`
	ipRange
	Ranges    []ipRange `json:"ipRanges,omitempty"`
	Addresses []fixed   `json:"addresses,omitempty"`
	Gateway   string    `json:"gateway,omitempty"`
	Name      string    `json:"network_name,omitempty"`
	Slice     string    `json:"node_slice_size,omitempty"`
	Overlap   *bool     `json:"enable_overlapping_ranges,omitempty"`
	Cron      *cronText `json:"reconciler_cron_expression,omitempty"`
	Routes    *[]route  `json:"routes,omitempty"`
	*election
}

// ipRange is one range, at the top or as an entry of ipRanges.
type ipRange struct {
	Range   string   `json:"range,omitempty"`
	Start   string   `json:"range_start,omitempty"`
	End     string   `json:"range_end,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

type fixed struct {
	Address string `json:"address"`
	Gateway string `json:"gateway,omitempty"`
}

type route struct {
	Dst string `json:"dst"`
}

type cronText string

// election is the times of the leader election in milliseconds. The elector refuses a lease that is
// not longer than the deadline, and a deadline of less than 1.2 times the period.
type election struct {
	Lease    int `json:"leader_lease_duration"`
	Deadline int `json:"leader_renew_deadline"`
	Period   int `json:"leader_retry_period"`
}

// attachments draws one to three networks. In most worlds their address ranges overlap, with the
// same or another network_name, which exercises the overlapping-range reservations.
func (w *world) attachments() []network {
	var nets []network
	for i := range space.Pick(w.Choices, 1, 1, 2, 2, 3) {
		n := network{namespace: "default", name: fmt.Sprintf("net%d", i+1)}
		if w.Chance(1, 6) {
			n.namespace = "kube-system"
		}
		n.conf = w.section(i)
		nets = append(nets, n)
	}
	if len(nets) > 1 && w.Chance(1, 4) { // all with the same name, so that reservations are shared
		for i := range nets {
			nets[i].conf.Name = "blue"
		}
	}
	if w.Chance(1, 6) {
		w.sliced(nets)
	}
	for i := range nets {
		w.nads = append(w.nads, w.definition(nets[i]))
		w.Add(w.nads[i])
	}
	return nets
}

// section draws one ipam section; i is the number of the network.
func (w *world) section(i int) ipamSection {
	base := w.base(i, w.Families().Chance(sixFirst, 100))
	s := ipamSection{Type: "whereabouts", ipRange: w.ipRange(base)}
	if w.Chance(1, 5) { // a second range of the same network, mostly of the other family
		second := w.base(i, w.Chance(2, 3))
		if second.Overlaps(base) || base.Addr().Is6() && second.Addr().Is6() {
			second = netip.MustParsePrefix("10.30.0.0/28")
		}
		s.Ranges = append(s.Ranges, w.ipRange(second))
	}
	if w.Chance(1, 6) { // the same without a range at the top
		s.Ranges, s.ipRange = append([]ipRange{s.ipRange}, s.Ranges...), ipRange{}
	}
	if w.Chance(1, 4) {
		s.Name = space.Pick(w.Choices, "blue", "green")
	}
	f := fuzz.New().RandSource(w.Choices).NilChance(.8).NumElements(1, 1).Funcs(
		func(b *bool, _ fuzz.Continue) { *b = w.Chance(1, 4) },
		func(c *cronText, _ fuzz.Continue) { *c = space.Pick[cronText](w.Choices, "30 4 * * *", "*/5 * * * *") },
		func(r *route, _ fuzz.Continue) { r.Dst = space.Pick(w.Choices, "192.168.0.0/16", "0.0.0.0/0") },
		func(e *election, _ fuzz.Continue) { *e = w.election() },
	)
	f.Fuzz(&s.Overlap)
	f.Fuzz(&s.Cron)
	f.Fuzz(&s.Routes)
	f.Fuzz(&s.election)
	if w.Chance(1, 8) {
		s.Gateway = base.Addr().Next().String()
	}
	if w.Chance(1, 8) {
		s.Addresses = []fixed{{Address: fmt.Sprintf("192.168.7.%d/24", 10+i), Gateway: space.Pick(w.Choices, "", "192.168.7.1")}}
	}
	return s
}

// election draws times that the elector accepts.
func (w *world) election() election {
	period := w.Between(100, 1000)
	deadline := period + period/4 + w.Int(1000)
	return election{Lease: max(1000, deadline+1+w.Int(2000)), Deadline: deadline, Period: period}
}

// sixFirst is the percentage of networks whose only or first range is of IPv6.
const sixFirst = 6

// base draws the prefix of a network's range: the first network's own, or one that overlaps it.
func (w *world) base(i int, six bool) netip.Prefix {
	if six {
		usual := space.Pick(w.Choices, "fd00:10::/124", "fd00:10::/64", "fd00:10::/125")
		return netip.MustParsePrefix(space.Pick(w.Families(), usual, usual, usual, usual, "fd00:10::/126", "fd00:10::/112", "fd00:10::/48", "fd00:10::/32"))
	}
	own := fmt.Sprintf("10.20.%d.0", i)
	return netip.MustParsePrefix(space.Pick(w.Choices, "10.10.0.0/28", "10.10.0.0/29", own+"/28", "10.10.0.0/28", "10.10.0.8/29", "10.10.0.0/27", "10.10.0.0/24", "10.10.0.0/30"))
}

// ipRange draws one of the forms of a range, and the addresses that it excludes.
func (w *world) ipRange(p netip.Prefix) ipRange {
	r := ipRange{Range: p.String()}
	first, roomy := p.Addr().Next(), p.Bits() <= p.Addr().BitLen()-3
	switch form := w.Int(8); {
	case !roomy || form < 5:
	case form == 5: // with an address of the range instead of its prefix
		r.Range = netip.PrefixFrom(first.Next(), p.Bits()).String()
	case form == 6: // START-END/BITS
		r.Range = fmt.Sprintf("%s-%s", first, netip.PrefixFrom(first.Next().Next().Next().Next(), p.Bits()))
	default:
		r.Start, r.End = first.String(), first.Next().Next().Next().String()
		if w.Chance(1, 4) { // one fixed address
			r.End = r.Start
		}
	}
	if roomy && w.Chance(1, 5) {
		r.Exclude = []string{space.Pick(w.Choices, netip.PrefixFrom(first, p.Addr().BitLen()).String(), first.Next().String(), netip.PrefixFrom(p.Addr(), p.Addr().BitLen()-1).String())}
	}
	return r
}

// room returns the number of addresses in the smallest range, at most 100.
func room(nets []network) int {
	least := 100
	for _, n := range nets {
		for _, r := range append([]ipRange{n.conf.ipRange}, n.conf.Ranges...) {
			_, p, ok := r.prefix()
			if !ok {
				continue
			}
			if n := p.Addr().BitLen() - p.Bits(); n < 6 {
				least = min(least, 1<<n-2-len(r.Exclude))
			}
			if r.Start != "" && r.Start == r.End {
				least = 1
			}
		}
	}
	return max(1, least)
}

// prefix parses any form of a range: it returns the address as written, and the masked prefix.
func (r ipRange) prefix() (first netip.Addr, p netip.Prefix, ok bool) {
	_, text, dashed := strings.Cut(r.Range, "-")
	if !dashed {
		text = r.Range
	}
	p, err := netip.ParsePrefix(text)
	return p.Addr(), p.Masked(), err == nil
}

// sliced configures node slices for the networks: one IPv4 range each, and the controller that divides it.
func (w *world) sliced(nets []network) {
	// Networks without a name of their own must not differ, otherwise the controller divides none of them
	// (checkForMultiNadMismatch).
	differ := w.Chance(1, 6)
	p, size := space.Pick(w.Choices, "10.40.0.0/26", "10.40.0.0/27"), space.Pick(w.Choices, "/28", "/29", "28", "/30")
	for i := range nets {
		c := &nets[i].conf
		if differ {
			p, size = fmt.Sprintf("10.4%d.0.0/26", i), space.Pick(w.Choices, "/28", "/29")
		}
		c.Ranges, c.ipRange = nil, ipRange{Range: p, Exclude: c.Exclude}
		if len(c.Exclude) > 0 {
			c.Exclude = []string{netip.MustParsePrefix(p).Addr().Next().String() + "/32"}
		}
		c.Slice = size
		if w.Chance(1, 8) {
			c.Slice = "" // one network of the cluster is not sliced
		}
	}
	w.Doc.Spec.Daemons = append(w.Doc.Spec.Daemons, "node-slice-controller")
	if w.Chance(4, 5) { // time to divide the ranges; the plugin crashes for a pod that comes earlier
		w.First = 2 * time.Second
	}
}

// definition returns the manifest, with a plain configuration or a list of plugins.
func (w *world) definition(n network) object {
	plugin := object{"cniVersion": "0.3.1", "name": n.name, "type": space.Pick(w.Plugins(), "macvlan", "macvlan", "ipvlan", "bridge", "host-device"), "master": "eth1", "ipam": n.conf}
	if w.Chance(1, 8) {
		delete(plugin, "cniVersion")
		delete(plugin, "name")
		plugin = object{"cniVersion": "0.3.1", "name": n.name, "plugins": []object{plugin, {"type": "tuning"}}}
	}
	b, err := json.Marshal(plugin)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return object{
		"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
		"metadata": object{"name": n.name, "namespace": n.namespace}, "spec": object{"config": string(b)},
	}
}
