package kube

import (
	"path"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// prefix is where a Kubernetes API server keeps its objects in etcd.
const prefix = "/registry"

// backend gives every registry its real etcd3 storage over the run's client. It
// is the only hook needed: built-in and custom resources alike take theirs from
// RESTOptions.Decorator. There is no watch cache behind it.
type backend struct {
	client *kubernetes.Client
	values *values
	closes []func()
}

func newBackend(c *clientv3.Client) *backend {
	kc := &kubernetes.Client{Client: c}
	kc.Kubernetes = kc
	return &backend{client: kc, values: &values{}}
}

func (b *backend) close() {
	for _, f := range b.closes {
		f()
	}
	_ = b.client.Close() // cancels a context, nothing else: there is no connection
}

// GetRESTOptions names the keys: built-in resources by their plural, as a real
// cluster does, custom ones by group and plural.
func (b *backend) GetRESTOptions(gr schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	var codec runtime.Codec = unstructured.UnstructuredJSONScheme
	where := path.Join(gr.Group, gr.Resource)
	if in, ok := builtins[gr.Resource]; ok && in.gv.Group == gr.Group {
		codec, where = stored(in.gv), gr.Resource
	}
	conf := storagebackend.Config{Prefix: prefix, Codec: codec, LeaseManagerConfig: etcd3.NewDefaultLeaseManagerConfig()}
	return generic.RESTOptions{
		StorageConfig:           conf.ForResource(gr),
		ResourcePrefix:          where,
		DeleteCollectionWorkers: 1,
		EnableGarbageCollection: true, // honour orphan and foreground finalizers, no more
		Decorator:               b.decorate,
	}, nil
}

// stored is how a real API server writes built-in objects: protobuf, whose maps
// are sorted and which takes a third of the time of JSON.
func stored(gv schema.GroupVersion) runtime.Codec {
	all := legacyscheme.Codecs
	info, _ := runtime.SerializerInfoForMediaType(all.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	return all.CodecForVersions(info.Serializer, all.UniversalDeserializer(), gv, runtime.InternalGroupVersioner)
}

func (b *backend) decorate(c *storagebackend.ConfigForResource, where string, _ func(runtime.Object) (string, error),
	newObject, newList func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	v := storage.APIObjectVersioner{}
	s := etcd3.New(b.client, nil, c.Codec, newObject, newList, c.Prefix, where, c.GroupResource,
		identity.NewEncryptCheckTransformer(), c.LeaseManagerConfig, etcd3.NewDefaultDecoder(c.Codec, v), v)
	b.closes = append(b.closes, s.Close)
	return &repeatable{Interface: s, values: b.values}, func() {}, nil
}
