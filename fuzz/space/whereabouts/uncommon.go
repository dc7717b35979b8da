package whereabouts

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"ipamsim/fuzz/space"
	"ipamsim/model"
)

// rareNetworks are the uncommon settings of Whereabouts.
var rareNetworks = []func(*world){
	ofNetwork((*world).rangeEnds), ofNetwork((*world).rangeEnds), ofNetwork((*world).rareExclude), ofNetwork((*world).rareExclude),
	ofNetwork((*world).rareElection), ofNetwork((*world).wholeSlice), ofNetwork((*world).rareResult), ofNetwork((*world).rareRange),
	(*world).rareSelection,
}

// rarely omits settings, for upstream's defaults, and draws uncommon ones.
func (w *world) rarely() {
	w.unset()
	var all []func(*space.World)
	for _, f := range rareNetworks {
		all = append(all, func(*space.World) { f(w) })
	}
	w.Uncommon(all)
}

// ofNetwork changes the ipam section of one of the networks.
func ofNetwork(change func(w *world, ipam object)) func(*world) {
	return func(w *world) {
		reconfigured(space.Pick(w.Choices, w.nads...), func(ipam object) { change(w, ipam) })
	}
}

// reconfigured changes the ipam section of a NetworkAttachmentDefinition.
func reconfigured(nad object, change func(ipam object)) {
	spec, conf := nad["spec"].(object), object{}
	if err := json.Unmarshal([]byte(spec["config"].(string)), &conf); err != nil {
		panic(err) // definition wrote it
	}
	plugin := conf
	if list, ok := conf["plugins"].([]any); ok {
		plugin = list[0].(object)
	}
	change(plugin["ipam"].(object))
	text, err := json.Marshal(conf)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	spec["config"] = string(text)
}

// unset omits settings that section has drawn, for upstream's defaults, each in half of the
// networks: the times of the election, the cron expression of the reconciler, and whether addresses
// are reserved across all ranges.
func (w *world) unset() {
	for _, nad := range w.nads {
		reconfigured(nad, func(ipam object) {
			for _, keys := range [][]string{
				{"leader_lease_duration", "leader_renew_deadline", "leader_retry_period"}, {"reconciler_cron_expression"}, {"enable_overlapping_ranges"},
			} {
				if w.Chance(1, 2) {
					for _, k := range keys {
						delete(ipam, k)
					}
				}
			}
		})
	}
}

// plainRange draws one of the ranges of a network without slices, and its prefix; ok is false if
// the range is written with its ends.
func (w *world) plainRange(ipam object) (r object, p netip.Prefix, ok bool) {
	all := []object{ipam}
	more, _ := ipam["ipRanges"].([]any)
	for _, x := range more {
		all = append(all, x.(object))
	}
	r = space.Pick(w.Choices, all...)
	text, _ := r["range"].(string)
	p, err := netip.ParsePrefix(text)
	return r, p.Masked(), err == nil && ipam["node_slice_size"] == nil
}

// rangeEnds draws the ends of a range: the network's own address and the last address, which
// Whereabouts does not assign; the first and the last address that it assigns; only the last one;
// or an address in the middle as one end.
func (w *world) rangeEnds(ipam object) {
	r, p, ok := w.plainRange(ipam)
	if !ok {
		return
	}
	first, last := p.Addr().Next(), model.LastAddr(p).Prev()
	ends := space.Pick(w.Choices,
		[2]netip.Addr{p.Addr(), last.Next()}, [2]netip.Addr{first, last}, [2]netip.Addr{last, last},
		[2]netip.Addr{first.Next(), {}}, [2]netip.Addr{{}, first.Next()},
	)
	for i, key := range []string{"range_start", "range_end"} {
		delete(r, key)
		if ends[i].IsValid() {
			r[key] = ends[i].String()
		}
	}
}

// rareExclude excludes all of a range, more than it, several parts, or addresses that are not in it.
func (w *world) rareExclude(ipam object) {
	r, p, ok := w.plainRange(ipam)
	if !ok {
		return
	}
	first := p.Addr().Next()
	r["exclude"] = space.Pick(w.Choices,
		[]string{p.String()},
		[]string{netip.PrefixFrom(p.Addr(), p.Bits()-1).Masked().String()},
		[]string{first.String(), netip.PrefixFrom(model.LastAddr(p), p.Addr().BitLen()-1).Masked().String()},
		[]string{"203.0.113.0/24"},
	)
}

// rareElection draws the shortest lease that the API server accepts, or a long one.
func (w *world) rareElection(ipam object) {
	e := space.Pick(w.Choices, election{Lease: 1000, Deadline: 150, Period: 100}, election{Lease: 60000, Deadline: 40000, Period: 10000})
	ipam["leader_lease_duration"], ipam["leader_renew_deadline"], ipam["leader_retry_period"] = e.Lease, e.Deadline, e.Period
}

// wholeSlice makes one slice of the whole range: only one node gets it.
func (w *world) wholeSlice(ipam object) {
	if text, _ := ipam["range"].(string); ipam["node_slice_size"] != nil {
		_, bits, _ := strings.Cut(text, "/")
		ipam["node_slice_size"] = "/" + bits
	}
}

// rareResult draws fields that Whereabouts passes on without reading: a gateway outside of the
// range, several routes, addresses.
func (w *world) rareResult(ipam object) {
	switch w.Int(3) {
	case 0:
		ipam["gateway"] = "192.0.2.1"
	case 1:
		ipam["routes"] = []object{{"dst": "192.168.0.0/16", "gw": "192.0.2.1"}, {"dst": "198.51.100.0/24"}}
	default:
		ipam["addresses"] = []object{{"address": fmt.Sprintf("192.168.8.%d/24", w.Between(1, 9))}, {"address": "fd00:99::9/64", "gateway": "fd00:99::1"}}
	}
}

// rareRange sets a large range, as in real clusters, which contains the small ranges of other
// networks, or a range of IPv6 only.
func (w *world) rareRange(ipam object) {
	if r, _, ok := w.plainRange(ipam); ok && ipam["ipRanges"] == nil { // ranges of one network must not overlap
		r["range"] = space.Pick(w.Choices, "10.0.0.0/8", "fd00:20::/120")
		for _, key := range []string{"range_start", "range_end", "exclude"} {
			delete(r, key)
		}
	}
}

// rareSelection requests the first network of a workload with another interface name, or in the
// long form without an interface name.
func (w *world) rareSelection() {
	notes := w.Notes()
	const asked = "k8s.v1.cni.cncf.io/networks"
	text, _ := notes[asked].(string)
	if text == "" || strings.ContainsAny(text, "[@") {
		return
	}
	names := strings.Split(text, ", ")
	if w.Chance(1, 2) {
		names[0] += "@eth7"
		notes[asked] = strings.Join(names, ", ")
		return
	}
	var long []object
	for _, n := range names {
		namespace, name, _ := strings.Cut(n, "/")
		e := object{"name": name}
		if namespace != "default" { // the pods' own namespace
			e["namespace"] = namespace
		}
		long = append(long, e)
	}
	b, err := json.Marshal(long)
	if err != nil {
		panic(err) // strings always marshal
	}
	notes[asked] = string(b)
}
