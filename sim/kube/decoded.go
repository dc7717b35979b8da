package kube

import (
	"bytes"
	"context"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage/etcd3"
)

// decoded caches the decoded objects of a resource. An object is read several times at each
// revision; decoding costs four times as much as a copy, and ten times for a custom resource,
// whose schema is applied twice.
type decoded struct {
	etcd3.Decoder

	mu       sync.Mutex
	now, old map[int64]reading // by revision; old is the full generation before now
}

// reading is a decoded object, its bytes and revision. No other code refers to the object.
type reading struct {
	data []byte
	obj  runtime.Object
}

// decodedMax bounds the cached objects of a resource, to twice as many.
const decodedMax = 2048

func newDecoded(d etcd3.Decoder) *decoded { return &decoded{Decoder: d, now: map[int64]reading{}} }

// Decode implements etcd3.Decoder.
func (d *decoded) Decode(value []byte, into runtime.Object, rev int64) error {
	if known := d.find(value, rev); known != nil && reflect.TypeOf(known) == reflect.TypeOf(into) {
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(known.DeepCopyObject()).Elem())
		return nil
	}
	err := d.Decoder.Decode(value, into, rev)
	if err == nil {
		d.keep(value, into, rev)
	}
	return err
}

// DecodeListItem implements etcd3.Decoder.
func (d *decoded) DecodeListItem(ctx context.Context, value []byte, rev uint64, new func() runtime.Object) (runtime.Object, error) {
	if known := d.find(value, int64(rev)); known != nil {
		return known.DeepCopyObject(), nil
	}
	obj, err := d.Decoder.DecodeListItem(ctx, value, rev, new)
	if err == nil {
		d.keep(value, obj, int64(rev))
	}
	return obj, err
}

// find returns the object decoded from exactly these bytes, or nil: a transaction that writes
// several objects gives them one revision.
func (d *decoded) find(value []byte, rev int64) runtime.Object {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.now[rev]
	if !ok {
		r = d.old[rev]
	}
	if r.obj == nil || !bytes.Equal(r.data, value) {
		return nil
	}
	return r.obj
}

func (d *decoded) keep(value []byte, obj runtime.Object, rev int64) {
	r := reading{value, obj.DeepCopyObject()}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.now) == decodedMax {
		d.now, d.old = map[int64]reading{}, d.now
	}
	d.now[rev] = r
}
