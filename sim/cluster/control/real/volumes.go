package real

import (
	"cmp"
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/kube"
)

// The resources of storage.
var (
	claims  = kubeapi.Resource{Root: "/api/v1", Plural: "persistentvolumeclaims", Namespaced: true}
	volumes = kubeapi.Resource{Root: "/api/v1", Plural: "persistentvolumes"}
)

// claimed gives a claim that is new a volume that every node can use: storage is not
// simulated, and kube-scheduler waits for it. It stands for persistentvolume-binder and a
// provisioner.
//
// Source: pkg/controller/volume/persistentvolume/pv_controller.go, bind (v1.37.2).
func (c *controllers) claimed(ch kube.Change) {
	p, ok := ch.Object.(*corev1.PersistentVolumeClaim)
	if !ok || ch.Old != nil {
		return
	}
	id := sim.ActorID(c.Name("provisioner/" + p.Namespace + "/" + p.Name))
	c.World.Spawn(sim.Process{ID: id, Run: func(ctx context.Context, g *sim.Gate) error {
		api := kubeapi.New(c.API.Transport(g))
		for err := provision(ctx, api, p); err != nil && !apierrors.IsNotFound(err); err = provision(ctx, api, p) {
			if !kubeapi.Sleep(ctx, c.Timers.OrDefault().APIRetry) {
				return ctx.Err()
			}
		}
		return nil
	}})
}

// provision creates the volume and binds the claim to it.
func provision(ctx context.Context, api kubeapi.Client, p *corev1.PersistentVolumeClaim) error {
	name := cmp.Or(p.Spec.VolumeName, "pvc-"+string(p.UID))
	volume, err := json.Marshal(volumeOf(p, name))
	if err != nil {
		return err
	}
	if err := api.Create(ctx, volumes, "", volume); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	mine := claims.Path(p.Namespace, p.Name)
	if err := api.Patch(ctx, mine, kubeapi.MergePatch, map[string]any{
		"metadata": map[string]any{"annotations": map[string]string{"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}},
		"spec":     map[string]any{"volumeName": name},
	}); err != nil {
		return err
	}
	return api.Patch(ctx, mine+"/status", kubeapi.MergePatch, map[string]any{
		"status": map[string]any{"phase": corev1.ClaimBound, "capacity": p.Spec.Resources.Requests, "accessModes": p.Spec.AccessModes},
	})
}

func volumeOf(p *corev1.PersistentVolumeClaim, name string) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: p.Spec.Resources.Requests, AccessModes: p.Spec.AccessModes, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			ClaimRef:               &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: p.Namespace, Name: p.Name, UID: p.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "storage", Path: "/" + name}},
		},
	}
	if p.Spec.StorageClassName != nil {
		v.Spec.StorageClassName = *p.Spec.StorageClassName
	}
	return v
}
