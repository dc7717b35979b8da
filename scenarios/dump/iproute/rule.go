package iproute

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ipamsim/scenarios/dump/decode"
)

// Rule is one line of ip rule.
type Rule struct {
	Prio     int
	Not      bool         // its selectors are inverted
	Src, Dst netip.Prefix // zero values: all
	// Other: it depends on more than source and destination: marks, interfaces, ports, users, an l3mdev.
	Other bool
	// Table is where it looks an address up. Type is an action without a table, as that of a route; "":
	// there is one, or none.
	Table, Type string
	Goto        int  // the priority of the rule that follows; 0: the next one
	Suppress    int  // a route with a prefix of this length or shorter does not count; -1: all do
	Group       bool // routes by a group of interfaces do not count
	From        decode.Origin
	Text        string // the line
}

// drops reports whether packets end in the rule.
func (r *Rule) drops() bool {
	return r.Type == "blackhole" || r.Type == "unreachable" || r.Type == "prohibit"
}

// actions are those of rules that have no table.
var actions = []string{"blackhole", "unreachable", "prohibit", "nop"}

// selectors are the words of ip rule that a value follows and that packets match by more than their
// addresses.
//
// Source: iproute2, ip/iprule.c, print_rule.
var selectors = []string{"tos", "dsfield", "dscp", "fwmark", "iif", "oif", "uidrange", "ipproto", "sport", "dport", "tun_id", "realms", "flowlabel"}

// ruleLine reads a line of ip rule.
func ruleLine(line string) (r Rule, ok bool) {
	words := strings.Fields(line)
	r = Rule{Text: strings.Join(words, " "), Suppress: -1}
	if len(words) < 3 || !strings.HasSuffix(words[0], ":") {
		return r, false
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(words[0], ":"), 10, 31)
	if err != nil {
		return r, false
	}
	r.Prio, words = int(n), words[1:]
	if words[0] == "not" {
		r.Not, words = true, words[1:]
	}
	from := false
	for i := 0; i < len(words); i++ {
		w, value := words[i], ""
		if i+1 < len(words) {
			value = words[i+1]
		}
		used := true // the value
		switch {
		case w == "from":
			r.Src, from = selected(value)
		case w == "to":
			r.Dst, ok = selected(value)
			if !ok {
				return r, false
			}
		case w == "lookup" || w == "table":
			if r.Table = tableName(value); strings.HasPrefix(value, "[l3mdev") {
				r.Other = true
			}
		case w == "goto":
			if r.Goto, err = strconv.Atoi(value); err != nil {
				return r, false
			}
		case w == "suppress_prefixlength":
			if r.Suppress, err = strconv.Atoi(value); err != nil {
				return r, false
			}
		case w == "suppress_ifgroup":
			r.Group = true
		case w == "proto" || w == "protocol":
		case slices.Contains(selectors, w):
			r.Other = r.Other || w != "realms"
		case slices.Contains(actions, w):
			r.Type, used = w, false
		case strings.HasPrefix(w, "["): // [detached], [unresolved]
			used = false
		default: // l3mdev, and what later releases print, with or without a value
			r.Other, used = true, false
		}
		if used && value == "" {
			return r, false
		}
		if used {
			i++
		}
	}
	return r, from && (r.Table != "" || r.Type != "" || r.Goto > 0)
}

// selected reads the value of from or to.
func selected(word string) (p netip.Prefix, ok bool) {
	if word == "all" || word == "any" || word == "default" {
		return p, true
	}
	return prefix(word)
}

// spelled are the fields of ip -j rule that are written as the line has them.
var spelled = []string{"tos", "dscp", "iif", "oif", "ipproto", "sport", "dport", "tun_id", "goto", "suppress_prefixlength", "suppress_ifgroup"}

// silent are those that are part of others, or that nothing depends on.
var silent = []string{"priority", "not", "src", "srclen", "dst", "dstlen", "table", "action", "fwmark", "fwmask", "protocol", "nop", "iif_detached", "oif_detached", "unresolved"}

// rulesJSON reads what ip -j rule prints.
func rulesJSON(text []byte) (out []Rule, ok bool) {
	var all []map[string]any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if d.Decode(&all) != nil {
		return nil, false
	}
	for _, x := range all {
		r, fine := ruleLine(ruleText(x))
		if !fine {
			return nil, false
		}
		out = append(out, r)
	}
	return out, len(out) > 0
}

// ruleText writes an object of ip -j rule as ip rule does.
func ruleText(x map[string]any) string {
	field := func(name string) string {
		switch v := x[name].(type) {
		case string:
			return v
		case json.Number:
			return v.String()
		}
		return ""
	}
	var b strings.Builder
	add := func(words ...string) { b.WriteString(strings.Join(words, " ") + " ") }
	add(field("priority") + ":")
	if _, not := x["not"]; not {
		add("not")
	}
	for _, end := range [][3]string{{"from", "src", "srclen"}, {"to", "dst", "dstlen"}} {
		switch addr, bits := field(end[1]), field(end[2]); {
		case addr != "" && bits != "":
			add(end[0], addr+"/"+bits)
		case addr != "":
			add(end[0], addr)
		}
	}
	if mark := field("fwmark"); mark != "" {
		add("fwmark", mark)
	}
	for _, name := range spelled {
		if v := field(name); v != "" {
			add(name, v)
		}
	}
	for name := range x {
		if !slices.Contains(spelled, name) && !slices.Contains(silent, name) {
			add("l3mdev") // as what cannot be evaluated
			break
		}
	}
	if table := field("table"); table != "" {
		add("lookup", table)
	}
	if _, nop := x["nop"]; nop {
		add("nop")
	}
	if action := field("action"); slices.Contains(actions, action) {
		add(action)
	}
	return b.String()
}
