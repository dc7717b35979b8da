package metallb

import (
	"encoding/json"
	"errors"
	"fmt"

	metallbv1beta1 "go.universe.tf/metallb/api/v1beta1"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	reference "ipamsim/model/reference/metallb"
	"ipamsim/sim/ipam"
)

// networkKey is the network of load balancers.
const networkKey = "load-balancers"

// primary is the network of the pools that manifests have. No pod gets an address of them.
func primary(objects []ipam.Object) (n model.Network, cni json.RawMessage, err error) {
	n.Key = networkKey
	for _, o := range objects {
		if o.Kind != poolKind {
			continue
		}
		var p metallbv1beta1.IPAddressPool
		if err := json.Unmarshal(o.Body, &p); err != nil {
			return n, nil, &ipam.ObjectError{Object: o, Err: err}
		}
		for i, text := range p.Spec.Addresses {
			x, err := reference.ParseRange(text)
			if err != nil {
				return n, nil, &ipam.ObjectError{Object: o, Field: fmt.Sprintf("spec.addresses[%d]", i), Err: err}
			}
			for _, p := range x.Prefixes() {
				n.Ranges = append(n.Ranges, model.Range{Prefix: p, Start: p.Addr(), End: model.LastAddr(p)})
			}
		}
	}
	if len(n.Ranges) == 0 {
		return n, nil, errors.New("the file has no IPAddressPool in namespace " + namespace + ", want one with spec.addresses")
	}
	return n, json.RawMessage(`{"cniVersion":"1.0.0","name":"` + networkKey + `"}`), nil
}

// check refuses pods, which have no address here, and pools that the controller would not read or
// not accept.
func check(objects []ipam.Object) error {
	r := newRecord(nil)
	for _, o := range objects {
		switch o.Kind {
		case "Pod", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob":
			return &ipam.ObjectError{Object: o, Field: "kind", Err: errors.New("ipam metallb gives pods no addresses: leave it out")}
		case poolKind, communityKind:
			if o.Namespace != namespace {
				return &ipam.ObjectError{Object: o, Field: "metadata.namespace", Err: errors.New("MetalLB does not look there, want " + namespace)}
			}
		}
		if err := r.read(o); err != nil {
			return err
		}
		if o.Kind != poolKind {
			continue
		}
		if _, err := r.policy(); err != nil {
			return &ipam.ObjectError{Object: o, Field: "spec", Err: err}
		}
	}
	return nil
}

// readRecord is what manifests say, without a run.
func readRecord(objects []ipam.Object, networks []model.Network) (model.Snapshot, error) {
	r := newRecord(networks)
	for _, o := range objects {
		if err := r.read(o); err != nil {
			return model.Snapshot{}, err
		}
	}
	return r.snapshot(), nil
}

// read adds a manifest.
func (r *record) read(o ipam.Object) error {
	var err error
	switch o.Kind {
	case "Service":
		err = into(o, &corev1.Service{}, func(x *corev1.Service) { x.Namespace, x.Name = o.Namespace, o.Name; r.takeService(x) })
	case "Namespace":
		err = into(o, &corev1.Namespace{}, func(x *corev1.Namespace) { r.namespaces[o.Name] = *x })
	case poolKind:
		err = into(o, &metallbv1beta1.IPAddressPool{}, func(x *metallbv1beta1.IPAddressPool) { r.takePool(o.Namespace, o.Name, x) })
	case communityKind:
		err = into(o, &metallbv1beta1.Community{}, func(x *metallbv1beta1.Community) { r.takeCommunity(o.Namespace, o.Name, x) })
	}
	return err
}

func into[T any](o ipam.Object, x T, take func(T)) error {
	if err := json.Unmarshal(o.Body, x); err != nil {
		return &ipam.ObjectError{Object: o, Err: err}
	}
	take(x)
	return nil
}
