package kube

import (
	"net/http"
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

	"ipamsim/sim/etcd"
)

// prefix is the prefix of the API server's keys in etcd.
const prefix = "/registry"

// backend gives every registry its real etcd3 storage over the run's client. The only hook is
// RESTOptions.Decorator: built-in and custom resources alike get their storage from it. There
// is no watch cache.
type backend struct {
	client  *kubernetes.Client
	outside func(func()) // runs a function outside of the bubble
	uids    *uids
	closes  []func()
	// controlled: see Server.ForControllers. direct is the server's own transport.
	controlled bool
	direct     http.RoundTripper
}

func newBackend(store *etcd.Run) *backend { return backendOver(store.Client(), store, &uids{}) }

func backendOver(c *clientv3.Client, store *etcd.Run, u *uids) *backend {
	kc := &kubernetes.Client{Client: c}
	kc.Kubernetes = kc
	return &backend{client: kc, outside: store.Outside, uids: u}
}

func (b *backend) close() {
	for _, f := range b.closes {
		f()
	}
	_ = b.client.Close() // cancels a context; there is no connection
}

// GetRESTOptions is for registries that belong to one run.
func (b *backend) GetRESTOptions(gr schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return restOptions(gr, b.decorate), nil
}

// restOptions names the keys as a real cluster does: built-in resources by plural, custom
// resources by group and plural.
func restOptions(gr schema.GroupResource, decorate generic.StorageDecorator) generic.RESTOptions {
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
		EnableGarbageCollection: true, // honors only orphan and foreground finalizers
		Decorator:               decorate,
	}
}

// stored is the codec of a real API server for built-in objects: protobuf, whose maps are
// sorted and which takes a third of the time of JSON.
func stored(gv schema.GroupVersion) runtime.Codec {
	all := legacyscheme.Codecs
	info, _ := runtime.SerializerInfoForMediaType(all.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	return all.CodecForVersions(info.Serializer, all.UniversalDeserializer(), gv, runtime.InternalGroupVersioner)
}

func (b *backend) decorate(c *storagebackend.ConfigForResource, where string, _ func(runtime.Object) (string, error),
	newObject, newList func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	return &repeatable{Interface: b.open(c, where, newObject, newList), run: b}, func() {}, nil
}

// open creates the real etcd3 storage of a resource in this run.
func (b *backend) open(c *storagebackend.ConfigForResource, where string, newObject, newList func() runtime.Object) storage.Interface {
	v := storage.APIObjectVersioner{}
	s, err := etcd3.New(b.client, nil, c.Codec, newObject, newList, c.Prefix, where, c.GroupResource,
		identity.NewEncryptCheckTransformer(), c.LeaseManagerConfig, newDecoded(etcd3.NewDefaultDecoder(c.Codec, v)), v)
	if err != nil {
		panic(err) // it refuses only an empty prefix
	}
	b.closes = append(b.closes, s.Close)
	return s
}
