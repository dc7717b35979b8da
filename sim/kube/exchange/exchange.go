// Package exchange is a request to the API server with its answer, as data. It links nothing
// of Kubernetes: a report of a run reads exchanges without the server that made them.
package exchange

import (
	"net/http"
	"strconv"
	"strings"

	"ipamsim/model/act"
)

// Exchange is one request with its answer, or one event of a watch: the Detail
// of a step.
type Exchange struct {
	Method, Path, RawQuery string
	Verb                   string // get list watch create update patch delete deletecollection; event for a watch's
	Resource, Subresource  string
	Namespace, Name        string
	Request, Response      []byte // as they were sent: kube.JSON reads them; Response is nil for a watch that opened
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

// Act is what the exchange reports without its bodies: the verb, the object and its
// resource, and the outcome. Bare is set: reading a body takes knowledge of the resource.
func (x Exchange) Act() act.Act {
	a := act.Act{
		Verb:        act.Verb(x.Verb),
		Thing:       act.Thing{Kind: act.Kind(x.Resource), Name: strings.TrimPrefix(x.Namespace+"/"+x.Name, "/")},
		Subresource: x.Subresource,
		Outcome:     x.outcome(),
		Status:      x.Status,
		Bare:        true,
	}
	if x.Status >= http.StatusBadRequest {
		if a.Error = x.Reason; a.Error == "" {
			a.Error = http.StatusText(x.Status)
		}
	}
	if a.Write() {
		a.Left = x.Revision
	}
	return a
}

// outcome reads the status. The API server answers a JSON patch whose test fails with 422.
func (x Exchange) outcome() act.Outcome {
	switch {
	case x.Status < http.StatusBadRequest:
		return act.Done
	case x.Status == http.StatusNotFound:
		return act.Absent
	case x.Reason == "AlreadyExists":
		return act.Exists
	case x.Status == http.StatusConflict, x.Status == http.StatusUnprocessableEntity && x.Verb == "patch":
		return act.Conflict
	}
	return act.Failed
}

// Note is the answer as a trace records it: "200 rv=17", "422 Invalid".
func (x Exchange) Note() string {
	n := strconv.Itoa(x.Status)
	if x.Reason != "" {
		n += " " + x.Reason
	} else if x.Revision != "" {
		n += " rv=" + x.Revision
	}
	return n
}
