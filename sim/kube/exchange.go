package kube

import (
	"fmt"
	"net/http"
	"path"
	"strings"

	"ipamsim/sim"
)

// Exchange is one request with its answer, or one event of a watch: the Detail
// of a step.
type Exchange struct {
	Method, Path, RawQuery string
	Verb                   string // get list watch create update patch delete deletecollection; event for a watch's
	Resource, Subresource  string
	Namespace, Name        string
	Request, Response      []byte // JSON reads them; Response is nil for a watch that opened
	Bare                   bool   // the trace had no room for Request and Response
	Status                 int
	Reason                 string // of a Status answer: "Conflict"
	Revision               string // of the object, or the list, in the answer, "" if there is none
}

// Size is that of the bodies.
func (x Exchange) Size() int { return len(x.Request) + len(x.Response) }

// Short is the exchange without its bodies.
func (x Exchange) Short() any {
	x.Request, x.Response, x.Bare = nil, nil, true
	return x
}

// exchange records the call and its answer, whose body it leaves unread and shares.
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
		x.Reason = told(x.Response, "reason")
	}
	if x.Reason == "" {
		x.Revision = told(x.Response, "metadata.resourceVersion")
	}
	return x
}

// note is what a trace says of the answer: "200 rv=17", "422 Invalid".
func (x *Exchange) note() string {
	n := fmt.Sprint(x.Status)
	if x.Reason != "" {
		n += " " + x.Reason
	} else if x.Revision != "" {
		n += " rv=" + x.Revision
	}
	return n
}

// objectName is the name in the path or, for a creation, in the body.
func (c *call) objectName() string {
	if c.info.Name != "" || c.info.Verb != "create" {
		return c.info.Name
	}
	if name := told(c.body, "metadata.name"); name != "" {
		return name
	}
	if name := told(c.body, "metadata.generateName"); name != "" {
		return name + "?"
	}
	return ""
}

// About is a request for an object, or for a list where there is no name: what is about
// the same has the same path, whoever sends it.
func About(verb, resource, namespace, name string) *sim.Request {
	return &sim.Request{Verb: verb, Resource: resource, Namespace: namespace, Name: name, Path: path.Join(resource, namespace, name)}
}

// message is the call as the schedule sees it: "PATCH ippools/kube-system/10.0.0.0-24",
// "LIST pods?fieldSelector=spec.nodeName=a".
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
	for _, p := range []string{"fieldSelector", "labelSelector", "resourceVersion"} {
		if v := q.Get(p); v != "" {
			r.Query += sep + p + "=" + v
			sep = "&"
		}
	}
	return r
}
