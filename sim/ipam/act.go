package ipam

import (
	"encoding/json"
	"net/http"
	"strings"

	"ipamsim/model/act"
	"ipamsim/sim/kube"
)

// ActOf is what an exchange with the API server says of itself: the verb, which object
// of which resource, and what came of it. What was sent and answered is for those who
// know the resource: Bare is set.
func ActOf(x kube.Exchange) act.Act {
	a := act.Act{
		Verb:        act.Verb(x.Verb),
		Thing:       act.Thing{Kind: act.Kind(x.Resource), Name: strings.TrimPrefix(x.Namespace+"/"+x.Name, "/")},
		Subresource: x.Subresource,
		Outcome:     outcome(x),
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

// Heard is the object that an event of a watch tells of, and whether it was deleted; ok is
// false if the event cannot be read.
func Heard(event []byte) (object json.RawMessage, gone, ok bool) {
	var e struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	ok = json.Unmarshal(event, &e) == nil
	return e.Object, e.Type == "DELETED", ok
}

// outcome reads the status. A JSON patch whose test fails is answered with 422.
func outcome(x kube.Exchange) act.Outcome {
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
