package printed

import (
	"encoding/json"
	"net/netip"
	"regexp"
	"strings"

	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/strict"
)

// Allocation is an address in use as calicoctl ipam check has it.
type Allocation struct {
	Handle, Namespace, Pod, Node, Type string
	Borrowed                           bool
	Block                              netip.Prefix // of the text; the zero value: not known
	Unused                             bool         // calicoctl has found no pod that has it
}

// Workload is a pod that has an address, by the WorkloadEndpoints that check listed.
type Workload struct {
	Namespace, Pod, Node string
	Addr                 netip.Addr
}

// Report reads the report that calicoctl ipam check -o writes, and returns how many
// addresses it has.
//
// Source: calicoctl/calicoctl/commands/ipam, Report and Allocation (v3.31).
func (t *All) Report(from decode.Origin, raw json.RawMessage) (int, error) {
	var o struct {
		Allocations map[string][]struct {
			Handle    string   `json:"handle"`
			Pod       string   `json:"pod"`
			Namespace string   `json:"namespace"`
			Node      string   `json:"node"`
			Type      string   `json:"type"`
			Borrowed  bool     `json:"borrowed"`
			Owners    []string `json:"owners"`
			InUse     *bool    `json:"inUse"`
		} `json:"allocations"`
		LeakedHandles []struct{ ID string } `json:"leakedHandles"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return 0, from.Fail("", "", "looks like a report of calicoctl ipam check, but: %s", decode.OneLine(err))
	}
	t.Every = true
	for s, all := range o.Allocations {
		a, err := netip.ParseAddr(s)
		if err != nil || a.Zone() != "" || len(all) == 0 {
			return 0, from.Fail("", "allocations", "%s is not an address in use", strict.Quote(s))
		}
		var list []Allocation
		unused := true
		for _, x := range all {
			if unused = unused && x.InUse != nil && !*x.InUse; x.InUse != nil && *x.InUse && x.Pod != "" {
				t.Named = append(t.Named, x.Namespace+"/"+x.Pod)
			}
		}
		for _, x := range all {
			list = append(list, Allocation{Handle: x.Handle, Namespace: x.Namespace, Pod: x.Pod, Node: x.Node, Type: x.Type, Borrowed: x.Borrowed, Unused: unused})
		}
		t.Checked[a] = list
		for _, owner := range all[0].Owners { // each allocation has all of them
			if w, ok := workload(owner); ok {
				w.Addr = a
				t.InUse = append(t.InUse, w)
			}
		}
	}
	for _, h := range o.LeakedHandles {
		t.Leaked = append(t.Leaked, h.ID)
	}
	return len(o.Allocations), nil
}

// workload is the pod that an owner names: Workload(NAMESPACE/NODE-k8s-POD-eth0), with
// each - of a name doubled.
//
// Source: libcalico-go/lib/names, WorkloadEndpointIdentifiers (v3.31).
func workload(owner string) (Workload, bool) {
	s, ok := strings.CutPrefix(owner, "Workload(")
	s, closed := strings.CutSuffix(s, ")")
	namespace, name, cut := strings.Cut(s, "/")
	if !ok || !closed || !cut {
		return Workload{}, false
	}
	const dash = "\x00"
	parts := strings.Split(strings.ReplaceAll(name, "--", dash), "-")
	if len(parts) != 4 || parts[1] != "k8s" {
		return Workload{}, false
	}
	plain := func(s string) string { return strings.ReplaceAll(s, dash, "-") }
	return Workload{Namespace: namespace, Node: plain(parts[0]), Pod: plain(parts[2])}, true
}

// The lines of check's text that name things.
var (
	blockLine  = regexp.MustCompile(`^IPAM block (\S+) affinity=(\S+):$`)
	allocated  = regexp.MustCompile(`^(\S+) (?:allocated|leaked); attrs Main:(\S+) Extra:(.*)$`)
	belongs    = regexp.MustCompile(`^(\S+) belongs to (.+)$`)
	noActive   = regexp.MustCompile(`^(\S+) doesn't have any active IPs\.$`)
	otherLines = regexp.MustCompile(`^(?:Loading all |Found \d+ |IPAM blocks record \d+ allocations|Workloads and nodes are using |Looking for top |Node with most |\S+ has \d+ allocations|\S+ has multiple owners|Scanning for |\S+ in use by |\S+ is in use in a block but|No configuration for |Check complete|\d+\.\d+\.\d+\.\d+/\d+$|[0-9a-f:]+/\d+$)`)
)

// Line takes a line of what calicoctl ipam check prints; ok is false if it is none.
//
// Source: calicoctl/calicoctl/commands/ipam, IPAMChecker.checkIPAM (v3.31).
func (t *All) Line(from decode.Origin, line string) (ok bool, err error) {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "Checking IPAM for inconsistencies") {
		t.text = true
		return true, nil
	}
	if !t.text {
		return false, nil
	}
	if m := blockLine.FindStringSubmatch(line); m != nil {
		p, err := netip.ParsePrefix(m[1])
		if err != nil || p.Masked() != p {
			return true, from.Fail("", "", "%s is no CIDR of a block", strict.Quote(m[1]))
		}
		u := Usage{CIDR: p, InUse: -1, From: from}
		if m[2] != "<none>" {
			u.Affinity = m[2]
		}
		t.Blocks, t.Affinities = append(t.Blocks, u), true
		return true, nil
	}
	if m := allocated.FindStringSubmatch(line); m != nil {
		t.Every = t.Every || strings.Contains(line, " allocated; ")
		return true, t.allocation(from, m)
	}
	if m := belongs.FindStringSubmatch(line); m != nil {
		a, err := netip.ParseAddr(m[1])
		if w, ok := workload(m[2]); ok && err == nil {
			w.Addr = a
			t.InUse = append(t.InUse, w)
		}
		return true, nil
	}
	if m := noActive.FindStringSubmatch(line); m != nil {
		t.Leaked = append(t.Leaked, m[1])
		return true, nil
	}
	return otherLines.MatchString(line), nil
}

// allocation takes a line of --show-all-ips, which follows its block's, or one of
// --show-problem-ips, which names it once more.
func (t *All) allocation(from decode.Origin, m []string) error {
	a, err := netip.ParseAddr(m[1])
	if err != nil {
		return from.Fail("", "", "%s is no address", strict.Quote(m[1]))
	}
	x := Allocation{Handle: m[2], Unused: strings.Contains(m[0], " leaked; ")}
	if x.Handle == "<none>" {
		x.Handle = ""
	}
	for kv := range strings.SplitSeq(m[3], ",") {
		switch k, v, _ := strings.Cut(kv, "="); k {
		case "node":
			x.Node = v
		case "pod":
			x.Pod = v
		case "namespace":
			x.Namespace = v
		case "type":
			x.Type = v
		}
	}
	if n := len(t.Blocks); n > 0 && t.Blocks[n-1].CIDR.Contains(a) {
		x.Block = t.Blocks[n-1].CIDR
	}
	for i, o := range t.Checked[a] {
		if o.Handle == x.Handle && o.Pod == x.Pod {
			t.Checked[a][i].Unused = o.Unused || x.Unused
			return nil
		}
	}
	t.Checked[a] = append(t.Checked[a], x)
	return nil
}
