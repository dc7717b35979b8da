package metallb

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metallbv1beta1 "go.universe.tf/metallb/api/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	reference "ipamsim/model/reference/metallb"
)

// policy is the configuration of pools, parsed according to the documentation and not by the code
// under test. An error is one of upstream's errors: a controller does not accept a configuration
// with it.
//
// Source: internal/config, For and poolsFor, whose texts the errors have, with
// ValidationFor("native") (v0.16.2).
func (r *record) policy() (pools []reference.Pool, err error) {
	if err := legible(sorted(r.communities)); err != nil {
		return nil, err
	}
	type part struct {
		text string
		of   reference.Range
	}
	var all []part
	for _, p := range sorted(r.pools) {
		pool, err := readPool(&p, r.namespaces)
		if err != nil {
			return nil, fmt.Errorf("parsing address pool %s: %w", p.Name, err)
		}
		for i, x := range pool.Ranges {
			text := p.Spec.Addresses[i]
			if at := slices.IndexFunc(all, func(o part) bool { return o.of.Overlaps(x) }); at >= 0 {
				return nil, fmt.Errorf("CIDR %q in pool %q overlaps with already defined CIDR %q", text, p.Name, all[at].text)
			}
			all = append(all, part{text, x})
		}
		pools = append(pools, pool)
	}
	return pools, nil
}

// readPool is what a pool says.
//
// Source: internal/config, addressPoolFromCR (v0.16.2).
func readPool(p *metallbv1beta1.IPAddressPool, namespaces map[string]corev1.Namespace) (out reference.Pool, err error) {
	out = reference.Pool{Name: p.Name, AvoidBuggy: p.Spec.AvoidBuggyIPs, Manual: p.Spec.AutoAssign != nil && !*p.Spec.AutoAssign}
	if len(p.Spec.Addresses) == 0 {
		return out, errors.New("pool has no prefixes defined")
	}
	for _, text := range p.Spec.Addresses {
		x, err := reference.ParseRange(text)
		if err != nil {
			return out, fmt.Errorf("invalid CIDR %q in pool %q: %w", text, p.Name, err)
		}
		out.Ranges = append(out.Ranges, x)
	}
	if p.Spec.AllocateTo != nil {
		out.For, err = allocation(p.Spec.AllocateTo, namespaces)
	}
	return out, err
}

// allocation determines the Services of a pool.
//
// Source: internal/config, addressPoolServiceAllocationsFromCR (v0.16.2).
func allocation(a *metallbv1beta1.ServiceAllocation, namespaces map[string]corev1.Namespace) (*reference.Allocation, error) {
	out := &reference.Allocation{Namespaces: slices.Clone(a.Namespaces), Selective: len(a.Namespaces)+len(a.NamespaceSelectors) > 0}
	if len(slices.Compact(slices.Sorted(slices.Values(a.Namespaces)))) < len(a.Namespaces) {
		return nil, errors.New("duplicate definition in namespaces field")
	}
	of, err := selectors("namespaceSelectors", a.NamespaceSelectors)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(namespaces)) {
		if slices.ContainsFunc(of, func(x reference.Selector) bool { return x(namespaces[name].Labels) }) {
			out.Namespaces = append(out.Namespaces, name)
		}
	}
	out.Services, err = selectors("serviceSelectors", a.ServiceSelectors)
	return out, err
}

// selectors reads the selectors of a field. None may occur twice.
func selectors(field string, all []metav1.LabelSelector) (out []reference.Selector, err error) {
	for i := range all {
		x, err := metav1.LabelSelectorAsSelector(&all[i])
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", field, i, err)
		}
		// As Kubernetes writes it: sorted, each once.
		if repeats(&all[i]) || slices.ContainsFunc(all[:i], func(o metav1.LabelSelector) bool { return text(&o) == text(&all[i]) }) {
			return nil, fmt.Errorf("duplicate definition of %s %q", field, text(&all[i]))
		}
		out = append(out, func(of map[string]string) bool { return x.Matches(labels.Set(of)) })
	}
	return out, nil
}

// text is a selector as text, independent of the order of its values.
func text(s *metav1.LabelSelector) string {
	s = s.DeepCopy()
	for _, e := range s.MatchExpressions {
		slices.Sort(e.Values)
	}
	return s.String()
}

// repeats reports whether a selector says anything twice.
//
// Source: internal/config, validateLabelSelectorMatchExpressions (v0.16.2).
func repeats(s *metav1.LabelSelector) bool {
	said := map[string]bool{}
	for _, e := range s.MatchExpressions {
		values := slices.Sorted(slices.Values(e.Values))
		e.Values = values
		if said[e.String()] || len(slices.Compact(slices.Clone(values))) < len(values) {
			return true
		}
		said[e.String()] = true
	}
	return false
}

// legible is an error if a Community cannot be read, or is of a kind that upstream's own BGP
// has not, which its manifests have the controller run with.
//
// Source: internal/bgp/community, New; internal/config, findNonLegacyCommunity and
// communitiesFromCrs (v0.16.2).
func legible(all []metallbv1beta1.Community) error {
	names, wrong := map[string]bool{}, error(nil)
	for _, c := range all {
		for _, x := range c.Spec.Communities {
			kind, err := community(x.Value)
			switch {
			case err == nil && kind != legacy:
				return fmt.Errorf("native BGP mode only supports legacy communities, BGP community CR %q has non legacy community %q", c.Name, x.Value)
			case wrong != nil:
			case err != nil:
				wrong = fmt.Errorf("parsing community %q: %w", x.Name, err)
			case names[x.Name]:
				wrong = fmt.Errorf("duplicate definition of community %q", x.Name)
			}
			names[x.Name] = true
		}
	}
	return wrong
}

// Kinds of communities.
const (
	legacy = "legacy" // ASN:VALUE
	large  = "large"  // large:ADMINISTRATOR:PART:PART
)

func community(s string) (kind string, err error) {
	fields, bits, kind := strings.Split(s, ":"), 16, legacy
	switch len(fields) {
	case 2:
	case 4:
		if fields[0] != large {
			return "", fmt.Errorf("invalid community value: %q, want %s:<uint32>:<uint32>:<uint32>", s, large)
		}
		fields, bits, kind = fields[1:], 32, large
	default:
		return "", fmt.Errorf("invalid community format: %s", s)
	}
	for _, f := range fields {
		if _, err := strconv.ParseUint(f, 10, bits); err != nil {
			return "", fmt.Errorf("invalid community value: invalid section %q of community %q", f, s)
		}
	}
	return kind, nil
}
