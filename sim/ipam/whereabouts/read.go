package whereabouts

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"ipamsim/model"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// The kinds of Whereabouts that say something about addresses, by resource. Another
// manager may have a kind of the same name.
const (
	poolKind        = "IPPool"
	reservationKind = "OverlappingRangeIPReservation"
	sliceKind       = "NodeSlicePool"
)

// readRecord is the record of the manifests, as follow would find it.
func readRecord(all []ipam.Object, networks []model.Network) (model.Snapshot, error) {
	r := newRecord(networks)
	for _, o := range all {
		u, err := mine(o)
		if err != nil {
			return model.Snapshot{}, err
		}
		resource := poolsResource
		switch {
		case u == nil:
			continue
		case u.GetKind() == reservationKind:
			resource = reservationsResource
		case u.GetKind() != poolKind:
			continue
		}
		r.changed(kube.Change{Group: apiGroup, Resource: resource, Namespace: o.Namespace, Name: o.Name, Object: u})
	}
	return (&instance{record: r}).Observe(context.Background())
}

// mine decodes an object of Whereabouts' group; it is nil for other groups.
func mine(o ipam.Object) (*unstructured.Unstructured, error) {
	kind, _, _ := strings.Cut(o.Kind, ".")
	if kind != poolKind && kind != reservationKind && kind != sliceKind {
		return nil, nil
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(o.Body, &u.Object); err != nil {
		return nil, &ipam.ObjectError{Object: o, Err: err}
	}
	if group, _, _ := strings.Cut(u.GetAPIVersion(), "/"); group != apiGroup {
		return nil, nil
	}
	return u, nil
}

// check refuses a pool whose range cannot be parsed, an allocation whose key is not a number, and a
// reservation whose name is not an address: upstream ignores them silently. It accepts an
// allocation outside of its range, because upstream creates such allocations.
func check(all []ipam.Object) error {
	for _, o := range all {
		u, err := mine(o)
		if err != nil {
			return err
		}
		if u == nil {
			continue
		}
		if field, err := wrong(u); err != nil {
			return &ipam.ObjectError{Object: o, Field: field, Err: err}
		}
	}
	return nil
}

// wrong is the first mistake in an object, and its field.
func wrong(u *unstructured.Unstructured) (field string, err error) {
	switch u.GetKind() {
	case reservationKind:
		if _, _, ok := reserved(u.GetName()); !ok {
			return "metadata.name", fmt.Errorf("%q does not end in an address, as in 10.0.0.5 or net-10.0.0.5", u.GetName())
		}
	case poolKind, sliceKind:
		text, _, _ := unstructured.NestedString(u.Object, "spec", "range")
		if _, _, err := net.ParseCIDR(text); err != nil {
			return "spec.range", fmt.Errorf("%q is no range: %w", text, err)
		}
	}
	spec, _ := u.Object["spec"].(object)
	allocations, _ := spec["allocations"].(object)
	worst := ""
	for key := range allocations {
		if _, err := strconv.ParseUint(key, 10, 64); err != nil && (worst == "" || key < worst) {
			worst = key
		}
	}
	if worst != "" {
		return "spec.allocations", fmt.Errorf("%q is no distance from the range's first address, want a whole number", worst)
	}
	return "", nil
}
