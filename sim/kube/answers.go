package kube

import (
	"context"
	"net/http"
	"path"
	"strconv"
	"sync"
)

// answers caches the server's responses to reads of one object. A response is valid as long as
// the object has the same revision, and most reads follow another read or a write of the same
// object. The handlers need twenty times as long.
type answers struct {
	mu sync.Mutex
	of map[question]remembered
}

type question struct{ key, accept string }

type remembered struct {
	revision int64
	header   http.Header
	body     []byte
}

// question identifies a read of one present object; ok is false for any other request.
func (c *call) question() (q question, ok bool) {
	if c.req.Method != http.MethodGet || c.info.Verb != "get" || c.info.Subresource != "" || c.req.URL.RawQuery != "" {
		return q, false
	}
	return c.about(c.info.Name)
}

// about returns the question about an object of the call's resource, with its key in etcd.
func (c *call) about(name string) (q question, ok bool) {
	if c.s.mux.own != nil {
		return q, false // each of its reads is a message
	}
	i := c.info
	where, namespace := path.Join(i.APIGroup, i.Resource), i.Namespace
	if in, ok := builtins[i.Resource]; ok && in.gv.Group == i.APIGroup {
		if in.remembers {
			return q, false
		}
		where = i.Resource
	}
	if i.Resource == "namespaces" {
		namespace = ""
	}
	return question{path.Join(prefix, where, namespace, name), c.req.Header.Get("Accept")}, name != "" && i.IsResourceRequest
}

// known returns the cached response for the object's present revision, or nil. It reads the
// object in the store, as the server would.
func (c *call) known(ctx context.Context, q question) *http.Response {
	a := &c.s.answers
	a.mu.Lock()
	said, ok := a.of[q]
	a.mu.Unlock()
	if !ok {
		return nil
	}
	now, err := c.s.backend.client.KV.Get(ctx, q.key)
	if err != nil || len(now.Kvs) == 0 || now.Kvs[0].ModRevision != said.revision {
		return nil
	}
	return c.response(http.StatusOK, said.header.Clone(), said.body)
}

// learn caches the object in a response to a read, or to a write whose response has the stored
// object. A dry run is excluded: its response has the stored revision, but other content.
func (c *call) learn(w *reply) {
	if c.req.URL.Query().Has("dryRun") {
		return
	}
	switch c.info.Verb {
	case "get", "create", "update", "patch":
	default:
		return
	}
	if w.code != http.StatusOK && w.code != http.StatusCreated || c.info.Subresource != "" && c.info.Subresource != "status" || w.header.Get("Warning") != "" {
		return
	}
	body := w.body.Bytes()
	q, ok := c.about(textAt(body, "metadata.name"))
	rev, err := strconv.ParseInt(textAt(body, "metadata.resourceVersion"), 10, 64)
	if !ok || err != nil {
		return
	}
	a := &c.s.answers
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[question]remembered{}
	}
	a.of[q] = remembered{rev, w.header.Clone(), body}
}
