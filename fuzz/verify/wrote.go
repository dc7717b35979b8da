package verify

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"ipamsim/reports"
	"ipamsim/sim/kube"
	"ipamsim/sim/por"
)

// stored is a message to a store other than the Kubernetes API server.
type stored interface {
	// Wrote returns the state of the written object as a reader sees it, without revisions; the object is
	// "" if nothing was written. known is false if the message may have written more.
	Wrote() (object string, state []byte, known bool)
}

// wrote marks the steps whose writes are completely known. Changes in the Kubernetes API server were
// recorded as they occurred.
func wrote(l *por.Log, rep *reports.Report) {
	for i := range l.Steps {
		s := &l.Steps[i]
		switch d := rep.Trace.Steps[i].Detail.(type) {
		case kube.Exchange:
			s.All = true
		case stored:
			object, state, known := d.Wrote()
			if s.All = known; object != "" {
				s.Write(object, state)
			}
		}
	}
}

// written returns a change as watchers see it, without the object's revision and UID. These differ after
// any other order of unrelated writes, and only show which change came first and which of several
// objects with the same name it is about. A process that watches all changes knows that anyway.
func written(ch kube.Change) (object string, state []byte) {
	if ch.Object != nil {
		state = blank(ch.Object)
	}
	return fmt.Sprint(ch.Group, " ", ch.Resource, " ", ch.Namespace, "/", ch.Name), fmt.Appendf(state, " %v", ch.Old != nil)
}

// blank returns an object as JSON, without its revision and UID.
func blank(o runtime.Object) []byte {
	c := o.DeepCopyObject()
	if m, err := meta.Accessor(c); err == nil {
		m.SetResourceVersion("")
		m.SetUID("")
	}
	b, err := json.Marshal(c)
	if err != nil {
		panic(err) // the API server has just encoded the same object
	}
	return b
}
