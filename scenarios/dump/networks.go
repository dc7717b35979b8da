package dump

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// network is the attached network of a key, nil if no manager serves it.
func (d *Draft) network(key string) *Network {
	for i := range d.networks {
		if d.networks[i].Key == key {
			return &d.networks[i]
		}
	}
	return nil
}

// status is an entry of what Multus reports.
type status struct {
	Name      string   `json:"name"`
	Interface string   `json:"interface,omitempty"`
	IPs       []string `json:"ips,omitempty"`
	Default   bool     `json:"default,omitempty"`
}

func statuses(text string) []status {
	var all []status
	if json.Unmarshal([]byte(text), &all) != nil {
		return nil
	}
	return all
}

func (s *status) addrs() []netip.Addr { return AddrsOf(s.IPs) }

// AddrsOf are the addresses among texts, which may have lengths.
func AddrsOf(texts []string) []netip.Addr {
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

// selections reads both forms of the annotation. Every entry has its namespace
// and interface afterwards: Multus counts net1, net2, …
func selections(text, namespace string) []Selection {
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

func qualified(name, namespace string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return namespace + "/" + name
}

// Called is the key by which a pod's network status calls the network that a range of
// addresses is of; "": none does.
func (c *Cluster) Called(p netip.Prefix) string {
	for _, ref := range c.Pods.Keys() {
		x := &c.Pods[ref].Value
		for _, s := range statuses(x.Annotations[statusAnnotation]) {
			if !s.Default && slices.ContainsFunc(s.addrs(), p.Contains) {
				if name := qualified(s.Name, x.Namespace); strings.Count(name, "/") == 1 {
					return name
				}
			}
		}
	}
	return ""
}
