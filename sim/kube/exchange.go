package kube

import (
	"net/http"
	"path"
	"strings"

	"ipamsim/sim"
	"ipamsim/sim/kube/exchange"
)

// Exchange is one request with its answer: see exchange.Exchange.
type Exchange = exchange.Exchange

// exchange records the call and its answer. It shares the answer's body and leaves it unread.
func (c *call) exchange(resp *http.Response) Exchange {
	x := Exchange{
		Method: c.req.Method, Path: c.req.URL.Path, RawQuery: c.req.URL.RawQuery,
		Verb: c.info.Verb, Resource: c.info.Resource, Subresource: c.info.Subresource,
		Namespace: c.info.Namespace, Name: c.objectName(), Request: c.body, Status: resp.StatusCode,
	}
	if m, ok := resp.Body.(*inMemory); ok {
		x.Response = m.body
	}
	if x.Status >= 400 {
		x.Reason = textAt(x.Response, "reason")
	}
	if x.Reason == "" {
		x.Revision = textAt(x.Response, "metadata.resourceVersion")
	}
	return x
}

// objectName returns the name in the path or, for a creation, in the body.
func (c *call) objectName() string {
	if c.info.Name != "" || c.info.Verb != "create" {
		return c.info.Name
	}
	if name := textAt(c.body, "metadata.name"); name != "" {
		return name
	}
	if name := textAt(c.body, "metadata.generateName"); name != "" {
		return name + "?"
	}
	return ""
}

// About describes a request for an object, or for a list without a name. Requests of all
// clients about the same object have the same path.
func About(verb, resource, namespace, name string) *sim.Request {
	return &sim.Request{Verb: verb, Resource: resource, Namespace: namespace, Name: name, Path: path.Join(resource, namespace, name)}
}

// message returns the label of the call: "PATCH ippools/kube-system/10.0.0.0-24", "LIST
// pods?fieldSelector=spec.nodeName=a".
func (c *call) message() *sim.Request {
	verb := c.req.Method
	if v := c.info.Verb; v == "list" || v == "watch" {
		verb = strings.ToUpper(v)
	}
	if !c.info.IsResourceRequest {
		return &sim.Request{Verb: verb, Path: c.info.Path}
	}
	namespace := c.info.Namespace
	if c.info.Resource == "namespaces" {
		namespace = ""
	}
	name, made := strings.CutSuffix(c.objectName(), "?")
	r := About(verb, c.info.Resource, namespace, name)
	if r.Subresource = c.info.Subresource; made {
		r.Query = "?"
	}
	sep := "?"
	q := c.req.URL.Query()
	for _, p := range []string{"fieldSelector", "labelSelector", "resourceVersion", "sendInitialEvents"} {
		if v := q.Get(p); v != "" {
			r.Query += sep + p + "=" + v
			sep = "&"
		}
	}
	return r
}
