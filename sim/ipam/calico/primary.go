package calico

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/objects"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
)

// aliases are what calicoctl and Calico's own API server call the kinds.
func aliases() map[string][]ipam.Alias {
	out := map[string][]ipam.Alias{libapiv3.KindIPAMConfig: {{APIVersion: apiv3.GroupVersionCurrent, Kind: apiv3.KindIPAMConfiguration}}}
	for _, k := range objects.Kinds {
		if _, internal := k.Kind.(objects.Allocation); !internal && out[k.Name] == nil && k.Name != apiv3.KindIPAMConfiguration {
			out[k.Name] = []ipam.Alias{{APIVersion: apiv3.GroupVersionCurrent, Kind: k.Name}}
		}
	}
	return out
}

// primary reads Calico's network from a scenario's manifests: the initial policy of its pools,
// reservations and settings, and the configuration of its CNI plugin. Every object is created
// through Calico's real client, with full validation, in a temporary datastore; pools are first,
// and the order of the file does not matter.
//
// The policy's nodes are those with a manifest.
func primary(all []ipam.Object) (model.Network, json.RawMessage, error) {
	conf, err := cniConfig(all)
	if err != nil {
		return model.Network{}, nil, err
	}
	r, err := drafted(all)
	if err != nil {
		return model.Network{}, nil, err
	}
	return r.Policy.Network(conf.v4, conf.v6), conf.list, nil
}

// read is the record of the manifests, decoded as primary does.
func read(all []ipam.Object, _ []model.Network) (model.Snapshot, error) {
	conf, err := cniConfig(all)
	if err != nil {
		return model.Snapshot{}, err
	}
	r, err := drafted(all)
	if err != nil {
		return model.Snapshot{}, err
	}
	r.V4, r.V6 = conf.v4, conf.v6
	return r.Observe()
}

// drafted is the record of a datastore with these objects.
func drafted(all []ipam.Object) (*record.Record, error) {
	d := &draft{objects: map[string]*bmodel.KVPair{}}
	c, err := store.WithBackend(d)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	for _, k := range objects.Kinds {
		for _, o := range all {
			if o.Kind != k.Name {
				continue
			}
			in, err := objects.Decode(k.Kind, o)
			if err == nil && objects.IsSettings(k.Kind) {
				err = k.Load(ctx, c, in) // others are refused as clients refuse them: pools that overlap
			} else if err == nil {
				err = k.Create(ctx, c, in)
			}
			if err == nil {
				err = d.sound()
			}
			if err != nil {
				return nil, objects.ObjectError(k.Kind, o, err)
			}
		}
	}
	r := record.Blank()
	for _, path := range slices.Sorted(maps.Keys(d.objects)) {
		if _, err := r.File(path, d.objects[path]); err != nil {
			return nil, fmt.Errorf("calico: %s: %w", path, err)
		}
	}
	for _, o := range all {
		n := &corev1.Node{}
		if o.Kind == "Node" && json.Unmarshal(o.Body, n) == nil { // the reader of nodes reports a bad one with more detail
			r.Policy.SetNode("nodes/"+n.Name, record.NodePair(n).Value.(*libapiv3.Node))
		}
	}
	return r, nil
}

// draft is a datastore that holds a scenario's objects while Calico's own client
// validates them. It belongs to no run and is never written to twice.
type draft struct {
	bapi.Client // nil: the client calls only the methods below
	objects     map[string]*bmodel.KVPair
	last        *bmodel.KVPair
}

func (d *draft) Create(_ context.Context, kv *bmodel.KVPair) (*bmodel.KVPair, error) {
	if d.objects[store.Path(kv.Key)] != nil {
		return nil, cerrors.ErrorResourceAlreadyExists{Identifier: kv.Key}
	}
	return d.Apply(context.Background(), kv)
}

func (d *draft) Apply(_ context.Context, kv *bmodel.KVPair) (*bmodel.KVPair, error) {
	d.objects[store.Path(kv.Key)], d.last = kv, kv
	return kv, nil
}

func (d *draft) Get(_ context.Context, k bmodel.Key, _ string) (*bmodel.KVPair, error) {
	if kv := d.objects[store.Path(k)]; kv != nil {
		return kv, nil
	}
	return nil, cerrors.ErrorResourceDoesNotExist{Identifier: k}
}

func (d *draft) List(_ context.Context, l bmodel.ListInterface, _ string) (*bmodel.KVPairList, error) {
	out := &bmodel.KVPairList{}
	for _, path := range slices.Sorted(maps.Keys(d.objects)) {
		if l.KeyFromDefaultPath(path) != nil {
			out.KVPairs = append(out.KVPairs, d.objects[path])
		}
	}
	return out, nil
}

// sound reports whether the last written object can be decoded.
func (d *draft) sound() error {
	_, err := record.Blank().File("", d.last)
	return err
}
