package loadbalancer

import (
	"context"
	"encoding/json"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/model"
	"ipamsim/sim/ipam"
)

// uidNote is the annotation with a Service's UID in a dumped cluster. Its handle is derived from
// it.
const uidNote = "ipamsim.dev/uid"

// reading reads Calico's record from manifests, with the Services.
func reading(calicos func([]ipam.Object, []model.Network) (model.Snapshot, error)) func([]ipam.Object, []model.Network) (model.Snapshot, error) {
	return func(objects []ipam.Object, networks []model.Network) (model.Snapshot, error) {
		r := &record{
			calicos:  func(context.Context) (model.Snapshot, error) { return calicos(objects, networks) },
			services: map[string]*corev1.Service{}, assigns: apiv3.AllServices,
		}
		for _, o := range objects {
			switch o.Kind {
			case "Service":
				s := &corev1.Service{}
				if err := json.Unmarshal(o.Body, s); err != nil {
					return model.Snapshot{}, &ipam.ObjectError{Object: o, Err: err}
				}
				s.Namespace, s.Name, s.UID = o.Namespace, o.Name, types.UID(s.Annotations[uidNote])
				r.take(s)
			case apiv3.KindKubeControllersConfiguration:
				u := &unstructured.Unstructured{}
				if err := json.Unmarshal(o.Body, &u.Object); err != nil {
					return model.Snapshot{}, &ipam.ObjectError{Object: o, Err: err}
				}
				r.take(u)
			}
		}
		return r.observe(context.Background())
	}
}
