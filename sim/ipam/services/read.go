package services

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"ipamsim/model"
	"ipamsim/sim/ipam"
)

// readRecord is what manifests say of Services, without a run. Which node ports are marked
// as allocated is stored in etcd alone: no manifest says it.
func readRecord(objects []ipam.Object, networks []model.Network) (model.Snapshot, error) {
	r := newRecord(ipam.Env{Networks: networks})
	for _, o := range objects {
		x, err := typed(o)
		if err != nil {
			return model.Snapshot{}, &ipam.ObjectError{Object: o, Err: err}
		}
		if x != nil {
			r.take("", x)
		}
	}
	return r.stored(), nil
}

// typed is an object of the record, nil for another one.
func typed(o ipam.Object) (runtime.Object, error) {
	var t metav1.TypeMeta
	if !keeps(o.Kind) || json.Unmarshal(o.Body, &t) != nil {
		return nil, nil
	}
	networked := strings.HasPrefix(t.APIVersion, networkingv1.GroupName+"/")
	switch {
	case o.Kind == "Service" && t.APIVersion == "v1":
		x := &corev1.Service{}
		err := json.Unmarshal(o.Body, x)
		x.Namespace, x.Name = o.Namespace, o.Name
		return x, err
	case o.Kind == "IPAddress" && networked:
		x := &networkingv1.IPAddress{}
		return x, json.Unmarshal(o.Body, x)
	case o.Kind == "ServiceCIDR" && networked:
		x := &networkingv1.ServiceCIDR{}
		return x, json.Unmarshal(o.Body, x)
	}
	return nil, nil
}
