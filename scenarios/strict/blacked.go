package strict

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// An address as reports print it, with letters or stars in place of numbers: 172.xx.xx.192,
// 10.x.y.4, xxx.xxx.xxx.7, 10.***.***.4, 2001:db8:xxxx::5.
const (
	maskedPart = `(?:\d{0,2}[xX*#?]{1,3}\d{0,2}|[a-zA-Z*?_])`
	part       = `(?:\d{1,3}|` + maskedPart + `)`
)

var (
	blackedQuad = regexp.MustCompile(`(^|[^\w.:*-])(` + part + `(?:\.` + part + `){3})($|[^\w.:*])`)
	blackedSix  = regexp.MustCompile(`(^|[^\w.:*-])([0-9a-fA-FxX*]{1,4}(?::[0-9a-fA-FxX*]{0,4}){2,7})($|[^\w.:*])`)
	number      = regexp.MustCompile(`^\d{1,3}$`)
	masked      = regexp.MustCompile(`^` + maskedPart + `$`)
	// erased is what stands in the place of a whole value.
	erased = regexp.MustCompile(`(?i)^(?:<[^<>]*>|\[?(?:redacted|masked|censored|removed|hidden|sanitized|anonymized|anonymised)\]?|[x*#█]{3,})$`)
)

// BlackedOut finds a redacted address: letters or stars instead of numbers. problem describes what to do; "" if
// there is none.
func BlackedOut(s string) (problem string, at int) {
	if !strings.ContainsAny(s, "xX*#?_") && !strings.ContainsAny(s, ".") {
		return "", 0
	}
	for _, m := range blackedQuad.FindAllStringSubmatchIndex(s, -1) {
		found := s[m[4]:m[5]]
		parts := strings.Split(found, ".")
		if !slices.ContainsFunc(parts, number.MatchString) || !slices.ContainsFunc(parts, masked.MatchString) {
			continue
		}
		for i, p := range parts {
			if masked.MatchString(p) {
				parts[i] = "16"
			}
		}
		return advice(found, strings.Join(parts, ".")), m[4]
	}
	for _, m := range blackedSix.FindAllStringSubmatchIndex(s, -1) {
		found := s[m[4]:m[5]]
		if strings.ContainsAny(found, "xX*") && (strings.Contains(found, "::") || strings.Count(found, ":") > 3) {
			return advice(found, sixMask.ReplaceAllString(found, "16")), m[4]
		}
	}
	return "", 0
}

var sixMask = regexp.MustCompile(`[0-9a-fA-F]*[xX*][0-9a-fA-FxX*]*`)

func advice(found, example string) string {
	return "the address " + found + " is blacked out: write the real one or any other, e.g. " + example + ", the same everywhere, in names, too"
}

// addressFields are those of an object that hold addresses and nothing else.
var addressFields = []string{"podIP", "hostIP", "ip", "cidr", "range", "podCIDR", "clusterIP", "podIPs", "podCIDRs", "clusterIPs", "IPv4Address", "IPv6Address"}

// Illegible finds the first value of an object, in the order of its fields, in which an
// address is blacked out. problem is "" if there is none.
func Illegible(raw json.RawMessage) (field, problem string) {
	if !suspect(raw) && !slices.ContainsFunc(erasures, func(e []byte) bool { return bytes.Contains(raw, e) }) {
		return "", "" // most objects of a large dump: a regular expression would take a second
	}
	if !blackedQuad.Match(raw) && !blackedSix.Match(raw) && !erasedField.Match(raw) {
		return "", ""
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return "", ""
	}
	return illegible(v, nil)
}

// erasures are parts of what erasedField finds.
var erasures = [][]byte{
	[]byte("<"), []byte("xxx"), []byte("XXX"), []byte("***"), []byte("###"), []byte("█"), []byte("edacted"), []byte("EDACTED"), []byte("asked"), []byte("ASKED"),
	[]byte("ensored"), []byte("ENSORED"), []byte("emoved"), []byte("EMOVED"), []byte("idden"), []byte("IDDEN"), []byte("anitized"), []byte("ANITIZED"), []byte("nonymi"), []byte("NONYMI"),
}

// suspect reports whether a dot or a colon stands between a letter or star that masks and a
// number or another one.
func suspect(raw []byte) bool {
	mask := func(c byte) bool { return c == 'x' || c == 'X' || c == '*' || c == '#' || c == '?' }
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	for i := 1; i < len(raw)-2; i++ {
		c, before, after := raw[i], raw[i-1], raw[i+1]
		switch {
		case c == '.' && (mask(before) && (digit(after) || mask(after)) || digit(before) && (mask(after) || raw[i+2] == '.' && !digit(after))):
			return true
		case c == ':' && (mask(before) && before != '"' && after != '"' || mask(after)):
			return true
		}
	}
	return false
}

// erasedField finds a field of an address whose value was erased.
var erasedField = regexp.MustCompile(`(?i)"(?:` + strings.Join(addressFields, "|") + `)":\s*\[?\s*"(?:<|\[|x{3}|\*{3}|#{3}|█|redact|mask|censor|remov|hidden|saniti|anonym)`)

func illegible(v any, p Path) (field, problem string) {
	switch v := v.(type) {
	case string:
		return p.String(), illegibleValue(v, p)
	case []any:
		for i, x := range v {
			if f, s := illegible(x, p.Then(i)); s != "" {
				return f, s
			}
		}
	case map[string]any:
		names := make([]string, 0, len(v))
		for k := range v {
			names = append(names, k)
		}
		sort.Strings(names)
		for _, k := range names {
			if f, s := illegible(v[k], p.Then(k)); s != "" {
				return f, s
			}
		}
	}
	return "", ""
}

// illegibleValue judges a value that begins with an address: prose may have any.
func illegibleValue(s string, p Path) string {
	if problem, at := BlackedOut(s); problem != "" && (at == 0 || strings.HasPrefix(s, "[") || strings.HasPrefix(s, "{")) {
		return problem
	}
	last := func(name string) bool {
		for i := len(p) - 1; i >= 0; i-- {
			if k, ok := p[i].(string); ok {
				return k == name || strings.HasSuffix(k, "/"+name)
			}
		}
		return false
	}
	if erased.MatchString(s) && slices.ContainsFunc(addressFields, last) {
		return "the address is blacked out (" + Quote(s) + "): write the real one or any other, e.g. 10.16.16.16, the same everywhere, in names, too"
	}
	return ""
}
