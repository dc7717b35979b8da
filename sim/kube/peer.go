package kube

import (
	"context"
	"net/http"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"

	"ipamsim/sim"
)

// Peer is another kube-apiserver over the same etcd, as a process: each of its requests to
// etcd, and each event from etcd, is a message at the gate of its process. It serves only the
// given resources.
//
// Like those of Server, its watches have no cache, and its admission admits everything.
type Peer struct {
	g      *sim.Gate
	server *Server
	inbox  chan *work
}

// Resource is one of Kubernetes' own resources, with its subresources.
type Resource struct {
	Version schema.GroupVersion
	Open    func(generic.RESTOptionsGetter) (map[string]rest.Storage, error)
}

// Peer returns the API server of a process. It serves until ctx ends. Without a gate, its
// requests to etcd pass none.
func (s *Server) Peer(ctx context.Context, g *sim.Gate) *Peer {
	c := s.store.Client()
	if g != nil {
		c.KV = clientv3.NewKVFromKVClient(&gatedKV{KVClient: s.store.KV(), g: g}, c)
		c.Watcher = &gatedWatcher{c.Watcher, g}
	}
	b := backendOver(c, s.store, s.backend.uids)
	m := &mux{own: map[string]builtin{}}
	k := newKept()
	k.run = b
	m.kept.Store(k)
	return &Peer{g: g, server: &Server{store: s.store, backend: b, mux: m, ctx: ctx}, inbox: make(chan *work)}
}

// Serve adds a resource, by its plural. The first request opens its registry.
func (p *Peer) Serve(plural string, r Resource) {
	p.server.mux.own[plural] = builtin{gv: r.Version, open: r.Open, remembers: true}
}

// Builtin returns a resource as every simulated API server has it, by its plural.
func Builtin(plural string) Resource {
	in := builtins[plural]
	return Resource{in.gv, in.open}
}

// Storage returns the storage of a registry with its own key and no resource.
func (p *Peer) Storage(gr schema.GroupResource, plural, key string) storage.Interface {
	o := restOptions(schema.GroupResource{Resource: plural}, nil)
	return p.server.backend.open(o.StorageConfig.Config.ForResource(gr), key, nil, nil)
}

// requestTimeout is the API server's time limit for a request that is not a watch.
//
// Source: apiserver, pkg/server, Config.RequestTimeout (v0.37.2).
const requestTimeout = time.Minute

// RoundTrip serves one request immediately: the loopback for the API server's own controllers
// and registries.
func (p *Peer) RoundTrip(r *http.Request) (*http.Response, error) {
	c, err := p.server.begin(r)
	if err != nil {
		return nil, err
	}
	return p.answer(sim.Calling(r.Context()), c)
}

func (p *Peer) answer(ctx context.Context, c *call) (*http.Response, error) {
	if c.info.Verb == "watch" {
		return c.watch(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return c.serve(ctx), nil
}

// Run serves the requests of a Wire until ctx ends.
func (p *Peer) Run(ctx context.Context) error {
	for {
		select {
		case w := <-p.inbox:
			go w.do(p)
		case <-ctx.Done():
			p.server.backend.close()
			return ctx.Err()
		}
	}
}

// work is a request that has arrived.
type work struct {
	call *call
	ctx  context.Context // ends when the client has gone
	done chan struct{}
	resp *http.Response
	err  error
}

func (w *work) do(p *Peer) {
	w.resp, w.err = p.answer(w.ctx, w.call)
	close(w.done)
}
