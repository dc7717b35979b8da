package iproute

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// types are those of routes that ip route writes before the destination.
//
// Source: iproute2, ip/rtm_map.c.
var types = []string{"unicast", "local", "broadcast", "anycast", "multicast", "blackhole", "unreachable", "prohibit", "throw", "nat", "xresolve"}

// valued are the words that a value follows.
//
// Source: iproute2, ip/iproute.c, print_route.
var valued = []string{
	"via", "dev", "proto", "scope", "src", "metric", "table", "mtu", "advmss", "hoplimit", "pref", "expires", "realm", "realms", "weight", "nhid", "encap",
	"tos", "initcwnd", "initrwnd", "rto_min", "rtt", "window", "cwnd", "ssthresh", "features", "quickack", "congctl", "error", "from", "lock", "inet6", "inet",
}

// flagged are words without a value.
var flagged = []string{"onlink", "pervasive", "offload", "offload_failed", "trap", "rt_offload", "rt_trap", "linkdown", "dead", "cache", "notify", "unresolved"}

// prefix reads a destination.
func prefix(word string) (p netip.Prefix, ok bool) {
	if a, err := netip.ParseAddr(word); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	p, err := netip.ParsePrefix(word)
	if err != nil { // 10.0/16 of old versions is left alone
		return netip.Prefix{}, false
	}
	return p.Masked(), true
}

// routeLine reads a line of ip route; six is the family of its command, as far as it is known.
func routeLine(line string, six bool) (r Route, ok bool) {
	words := strings.Fields(line)
	r = Route{Type: "unicast", Table: "main", Text: strings.Join(words, " ")}
	r.plain = r.Text
	if i := slices.Index(words, "table"); i >= 0 && i+1 < len(words) {
		r.plain = strings.Join(slices.Concat(words[:i], words[i+2:]), " ")
	}
	if len(words) > 0 && slices.Contains(types, words[0]) {
		r.Type, words = words[0], words[1:]
	}
	if len(words) == 0 {
		return r, false
	}
	byDefault := words[0] == "default"
	if !byDefault {
		if r.Dst, ok = prefix(words[0]); !ok {
			return r, false
		}
	}
	if len(words) == 1 && r.Type == "unicast" {
		return r, false // an address alone is no route
	}
	if !r.words(words[1:]) {
		return r, false
	}
	if byDefault {
		four := !six && !slices.ContainsFunc(r.Via, netip.Addr.Is6) && !slices.Contains(words, "pref")
		r.Dst = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
		if four {
			r.Dst = netip.PrefixFrom(netip.IPv4Unspecified(), 0)
		}
	}
	return r, true
}

// words reads what follows a destination.
func (r *Route) words(words []string) bool {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "linkdown" || w == "dead":
			r.Dead = true
		case slices.Contains(flagged, w) || strings.HasPrefix(w, "[") || strings.HasSuffix(w, "]") || w == "nexthop":
		case slices.Contains(valued, w) && i+1 < len(words):
			i++
			switch v := words[i]; w {
			case "via", "inet6", "inet":
				if a, err := netip.ParseAddr(v); err == nil {
					r.Via = append(r.Via, a)
				} else if v != "inet6" && v != "inet" {
					return false
				} else {
					i-- // via inet6 fe80::1
				}
			case "dev":
				r.Dev = v
			case "table":
				r.Table = tableName(v)
			case "metric":
				r.Prio, _ = strconv.Atoi(v)
			case "expires":
			}
		default:
			return false
		}
	}
	return true
}

// tableName is the name of a table that has one in every file of names.
//
// Source: /etc/iproute2/rt_tables.
func tableName(v string) string {
	switch v {
	case "254":
		return "main"
	case "255":
		return "local"
	case "253":
		return "default"
	}
	return v
}

// routesJSON reads what ip -j route prints.
func routesJSON(text []byte, six bool) (out []Route, ok bool) {
	var all []struct {
		Type, Dst, Gateway, Dev, Table string
		Metric                         int
		Flags                          []string
		Via                            struct{ Host string }
		Nexthops                       []struct {
			Gateway, Dev string
			Flags        []string
		}
	}
	if json.Unmarshal(text, &all) != nil {
		return nil, false
	}
	for _, x := range all {
		line := strings.Builder{}
		if x.Type != "" && x.Type != "unicast" {
			line.WriteString(x.Type + " ")
		}
		line.WriteString(x.Dst)
		add := func(word, v string) {
			if v != "" {
				line.WriteString(" " + word + " " + v)
			}
		}
		add("via", x.Gateway)
		add("via", x.Via.Host)
		add("dev", x.Dev)
		add("table", x.Table)
		for _, h := range x.Nexthops {
			add("via", h.Gateway)
			add("dev", h.Dev)
			x.Flags = append(x.Flags, h.Flags...)
		}
		if x.Metric > 0 {
			add("metric", strconv.Itoa(x.Metric))
		}
		for _, f := range []string{"dead", "linkdown"} {
			if slices.Contains(x.Flags, f) {
				line.WriteString(" " + f)
			}
		}
		r, fine := routeLine(line.String(), six)
		if !fine && !(x.Dst != "" && line.String() == x.Dst) {
			return nil, false
		}
		out = append(out, r)
	}
	return out, len(out) > 0
}

// addrsJSON reads what ip -j addr prints.
func addrsJSON(text []byte) (out []Addr, ok bool) {
	var all []struct {
		Ifname string
		Info   []struct {
			Local     string
			Prefixlen int
		} `json:"addr_info"`
	}
	if json.Unmarshal(text, &all) != nil {
		return nil, false
	}
	for _, x := range all {
		for _, i := range x.Info {
			if a, err := netip.ParseAddr(i.Local); err == nil {
				out = append(out, Addr{Prefix: netip.PrefixFrom(a, i.Prefixlen), Dev: x.Ifname})
			}
		}
	}
	return out, len(out) > 0
}

// addrLine reads a line of ip addr. dev is the interface that the lines before are about, and
// then this one. ok is false for a line that ip addr does not print.
func addrLine(line string, dev *string) (a Addr, has, ok bool) {
	words := strings.Fields(line)
	if len(words) < 2 {
		return a, false, false
	}
	if n, found := strings.CutSuffix(words[0], ":"); found && isNumber(n) { // 2: eth0: <UP>, or -o: 2: eth0    inet …
		name, _, _ := strings.Cut(strings.TrimSuffix(words[1], ":"), "@")
		*dev = name
		if len(words) < 4 || words[2] != "inet" && words[2] != "inet6" {
			return a, false, strings.HasPrefix(strings.Join(words[2:], " "), "<")
		}
		words = words[2:]
	}
	switch words[0] {
	case "inet", "inet6":
		p, err := netip.ParsePrefix(words[1])
		if err != nil {
			b, err := netip.ParseAddr(words[1]) // a tunnel's: inet 10.0.0.1 peer …
			if err != nil {
				return a, false, false
			}
			p = netip.PrefixFrom(b, b.BitLen())
		}
		return Addr{Prefix: p, Dev: *dev}, true, true
	case "valid_lft", "altname":
		return a, false, true
	}
	return a, false, strings.HasPrefix(words[0], "link/")
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil
}

// isJSON reports whether output begins as that of ip -j.
func isJSON(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) }
