package canary

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/kube"
)

var (
	poolKind = schema.GroupVersionKind{Group: "ipamsim.dev", Version: "v1alpha1", Kind: "CanaryPool"}
	poolsGVR = schema.GroupVersionResource{Group: "ipamsim.dev", Version: "v1alpha1", Resource: "canarypools"}
	podsGVR  = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// Limits of one change. Every conflict means that another process made progress, so many are
// allowed. Other errors may mean that the server is gone.
const (
	conflictsMax = 100
	othersMax    = 10
	pause        = 100 * time.Millisecond // after an error that is no conflict
)

// client reads and writes ledgers for one process.
type client struct {
	client dynamic.Interface
	wrote  func() // called after each write, so that an observer does not see the state before it
}

func (i *instance) client(g *sim.Gate) (*client, error) {
	c, err := dynamic.NewForConfig(kube.Config(i.api.Transport(g)))
	if err != nil {
		return nil, fmt.Errorf("canary: client: %w", err)
	}
	return &client{c, func() { i.stale.Store(true) }}, nil
}

// objectName is the CanaryPool of a network_name.
func objectName(network string) string {
	if network == "" {
		return "unnamed"
	}
	return "network-" + network
}

// change reads the ledger of a network_name, lets f change it and writes it back. It starts
// again if the ledger has been written in between. An error of f ends it.
//
// After a lost answer the next round reads whether the write happened. f is idempotent and then
// finds nothing left to do.
func (d *client) change(ctx context.Context, network string, f func(*ledger) (changed bool, err error)) error {
	var conflicts, others int
	for {
		final, err := d.try(ctx, network, f)
		switch {
		case final || err == nil:
			return err
		case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err):
			conflicts++
		default:
			others++
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if conflicts >= conflictsMax || others >= othersMax {
			return fmt.Errorf("canary: %s: given up: %w", objectName(network), err)
		}
	}
}

// try is one round of change. Final says that another round would not help.
func (d *client) try(ctx context.Context, network string, f func(*ledger) (bool, error)) (final bool, err error) {
	pools := d.client.Resource(poolsGVR)
	obj, err := pools.Get(ctx, objectName(network), metav1.GetOptions{})
	create := apierrors.IsNotFound(err)
	switch {
	case create:
		obj = &unstructured.Unstructured{}
		obj.SetGroupVersionKind(poolKind)
		obj.SetName(objectName(network))
	case err != nil:
		return false, err
	}
	l, err := decode(obj)
	if err != nil {
		return true, err
	}
	l.Network = network
	changed, err := f(&l)
	if err != nil || !changed {
		return true, err
	}
	if err := encode(&l, obj); err != nil {
		return true, err
	}
	if create {
		_, err = pools.Create(ctx, obj, metav1.CreateOptions{})
	} else {
		_, err = pools.Update(ctx, obj, metav1.UpdateOptions{})
	}
	d.wrote()
	return false, err
}

// exists reports whether the pod object that a claim was made for is still there.
// A claim without UID (one that was there before the run) is judged by name.
func (d *client) exists(ctx context.Context, k claim) (bool, error) {
	ref := podRef(k.Pod)
	p, err := d.client.Resource(podsGVR).Namespace(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, err
	}
	return k.UID == "" || k.UID == string(p.GetUID()), nil
}

func decode(obj *unstructured.Unstructured) (ledger, error) {
	var l ledger
	raw, err := json.Marshal(obj.Object["spec"])
	if err == nil {
		err = json.Unmarshal(raw, &l)
	}
	if err != nil {
		return ledger{}, fmt.Errorf("canary: %s: %w", obj.GetName(), err)
	}
	return l, nil
}

func encode(l *ledger, obj *unstructured.Unstructured) error {
	raw, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("canary: %s: %w", obj.GetName(), err)
	}
	var spec map[string]any
	if err := json.Unmarshal(raw, &spec); err != nil {
		return fmt.Errorf("canary: %s: %w", obj.GetName(), err)
	}
	obj.Object["spec"] = spec
	return nil
}

func podRef(key string) model.PodRef {
	for i := range key {
		if key[i] == '/' {
			return model.PodRef{Namespace: key[:i], Name: key[i+1:]}
		}
	}
	return model.PodRef{Name: key}
}
