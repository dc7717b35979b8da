package services

import (
	"encoding/json"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/sim/ipam"
)

// check refuses pods, which have no address here, and a Service without a cluster IP, which no API
// server creates.
func check(objects []ipam.Object) error {
	for _, o := range objects {
		switch o.Kind {
		case "Pod", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob":
			return &ipam.ObjectError{Object: o, Field: "kind", Err: errors.New("ipam services gives pods no addresses: leave it out")}
		case "Service":
			var s corev1.Service
			if err := json.Unmarshal(o.Body, &s); err != nil {
				return &ipam.ObjectError{Object: o, Err: err}
			}
			if s.Spec.Type != corev1.ServiceTypeExternalName && s.Spec.ClusterIP == "" {
				return &ipam.ObjectError{Object: o, Field: "spec.clusterIP",
					Err: errors.New("missing: a Service that is there before the first step has its address; or create it in the timeline")}
			}
		}
	}
	return nil
}
