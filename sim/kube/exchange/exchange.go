// Package exchange is a request to the API server with its answer, as data. It links nothing
// of Kubernetes: reports read exchanges without the server.
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
	Request, Response      []byte // as sent: kube.JSON reads them; Response is nil for an opened watch
	Bare                   bool   // the trace had no room for Request and Response
	Status                 int
	Reason                 string // of a Status: "Conflict"
	Revision               string // of the object or list in the answer, "" without one
}

// Size returns the size of the bodies.
func (x Exchange) Size() int { return len(x.Request) + len(x.Response) }

// Short returns the exchange without its bodies.
func (x Exchange) Short() any {
	x.Request, x.Response, x.Bare = nil, nil, true
	return x
}

// Act returns the exchange's verb, object, resource and outcome, without its bodies. Bare is
// set: decoding a body requires knowledge of the resource.
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

// outcome interprets the status. The API server answers a JSON patch with a failed test with
// 422.
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

// Note returns the answer for a trace: "200 rv=17", "422 Invalid".
func (x Exchange) Note() string {
	n := strconv.Itoa(x.Status)
	if x.Reason != "" {
		n += " " + x.Reason
	} else if x.Revision != "" {
		n += " rv=" + x.Revision
	}
	return n
}
