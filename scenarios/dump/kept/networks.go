package kept

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Status is an entry of what Multus reports.
type Status struct {
	Name      string   `json:"name"`
	Interface string   `json:"interface,omitempty"`
	IPs       []string `json:"ips,omitempty"`
	Default   bool     `json:"default,omitempty"`
}

// Statuses are the entries of the annotation, none if it cannot be read.
func Statuses(text string) []Status {
	var all []Status
	if json.Unmarshal([]byte(text), &all) != nil {
		return nil
	}
	return all
}

// Addrs are its addresses.
func (s *Status) Addrs() []netip.Addr { return AddrsIn(s.IPs) }

// AddrsIn are the addresses among texts, which may have lengths.
func AddrsIn(texts []string) []netip.Addr {
	var out []netip.Addr
	for _, t := range texts {
		t, _, _ = strings.Cut(strings.TrimSpace(t), "/")
		if a, err := netip.ParseAddr(t); err == nil && a.Zone() == "" {
			out = append(out, a.Unmap())
		}
	}
	return out
}

// Selection is an entry of the annotation by which a pod asks for networks.
type Selection struct {
	Name      string   `json:"name"`
	Namespace string   `json:"namespace,omitempty"`
	Interface string   `json:"interface,omitempty"`
	IPs       []string `json:"ips,omitempty"`
}

// Selections reads both forms of the annotation. Every entry has its namespace
// and interface afterwards: Multus counts net1, net2, …
func Selections(text, namespace string) []Selection {
	var all []Selection
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	if strings.HasPrefix(text, "[") {
		if json.Unmarshal([]byte(text), &all) != nil {
			return nil
		}
	} else {
		for _, s := range strings.Split(text, ",") {
			e := Selection{Name: strings.TrimSpace(s)}
			e.Name, e.Interface, _ = strings.Cut(e.Name, "@")
			if ns, name, ok := strings.Cut(e.Name, "/"); ok {
				e.Namespace, e.Name = ns, name
			}
			all = append(all, e)
		}
	}
	for i := range all {
		if all[i].Namespace == "" {
			all[i].Namespace = namespace
		}
		if all[i].Interface == "" {
			all[i].Interface = "net" + strconv.Itoa(i+1)
		}
	}
	return all
}

// Qualified is namespace/name of a name that may have a namespace.
func Qualified(name, namespace string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return namespace + "/" + name
}

// LocalTypes are interface plugins whose interfaces end on their node, if nothing else connects
// them.
//
// Source: containernetworking/plugins, plugins/main/bridge and ptp (v1.10.0).
var LocalTypes = []string{"bridge", "ptp"}

// Called is the key by which a pod's network status calls the network that a range of
// addresses is of; "": none does.
func Called(pods Objects[Pod], p netip.Prefix) string {
	for _, ref := range pods.Keys() {
		x := &pods[ref].Value
		for _, s := range Statuses(x.Annotations[StatusAnnotation]) {
			if !s.Default && slices.ContainsFunc(s.Addrs(), p.Contains) {
				if name := Qualified(s.Name, x.Namespace); strings.Count(name, "/") == 1 {
					return name
				}
			}
		}
	}
	return ""
}
