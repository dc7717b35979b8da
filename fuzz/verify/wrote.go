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

// stored is a message to a store that is not Kubernetes'.
type stored interface {
	// Wrote is how the message left the object that it is about, as whoever reads that sees it but
	// for revisions; no object if it wrote nothing. Known is false if it may have written more.
	Wrote() (object string, state []byte, known bool)
}

// wrote notes of which steps of a run it is known all that they wrote: the changes of what
// Kubernetes' API server stores were noted as they came.
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

// written is what whoever is told of a change gets to see of it, but for its revision and the
// object's uid: they are others after any other order of unrelated writes, and say no more than which
// came first, and which of one name it is. Who is told of every change knows that.
func written(ch kube.Change) (object string, state []byte) {
	if ch.Object != nil {
		state = blank(ch.Object)
	}
	return fmt.Sprint(ch.Group, " ", ch.Resource, " ", ch.Namespace, "/", ch.Name), fmt.Appendf(state, " %v", ch.Old != nil)
}

// blank is an object as JSON, without its revision and uid.
func blank(o runtime.Object) []byte {
	c := o.DeepCopyObject()
	if m, err := meta.Accessor(c); err == nil {
		m.SetResourceVersion("")
		m.SetUID("")
	}
	b, err := json.Marshal(c)
	if err != nil {
		panic(err) // what the API server has just written as JSON
	}
	return b
}
