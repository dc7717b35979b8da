package observe

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/strict"
)

// Progress of Read, for people who wait.
type Progress = dump.Progress

// Read takes what a file holds: what kubectl get -o yaml or -o json prints of pods,
// nodes and events, an audit log of the API server (JSON lines), or the answer of
// Prometheus to a range query; several one after the other are fine, but for dumps: a
// file is one listing, taken at one time. at says when; zero: the latest time that the
// file itself names.
//
// The error is a *strict.Error, one line with file and line.
func (c *Collector) Read(name string, r io.Reader, at time.Time, progress func(Progress)) error {
	head := make([]byte, 4096)
	n, err := io.ReadFull(r, head)
	if err != nil && n == 0 {
		problem := "empty"
		if err != io.EOF {
			problem = err.Error()
		}
		return &strict.Error{File: name, Problem: problem}
	}
	head = head[:n]
	all := io.MultiReader(bytes.NewReader(head), r)
	f := &file{c: c, name: name, taken: at}
	if prometheus(head) {
		if err := f.prometheus(all); err != nil {
			return err
		}
		return f.close()
	}
	if err := dump.Objects(f.c.managers, name, all, progress, f.object); err != nil {
		return err
	}
	return f.close()
}

// file is one file while it is read.
type file struct {
	c     *Collector
	name  string
	taken time.Time // the given time of its listing
	last  time.Time // the latest time that it names
	pods  []listedPod
	nodes []listed
	log   Window // the period that it covers event by event
	audit auditTrail
	event bool // it has Kubernetes events
	saw   int  // objects that say something
}

// listedPod is a pod of a listing.
type listedPod struct {
	*podRecord
	ended bool
}

// listed is a node of a listing.
type listed struct {
	*nodeRecord
	cordoned, ready bool
}

// object is one that kubectl printed, or a line of an audit log.
func (f *file) object(from dump.Origin, raw json.RawMessage) error {
	var h metav1.TypeMeta
	if err := json.Unmarshal(raw, &h); err != nil {
		return fail(from, "", "", "want an object with apiVersion and kind: %s", strict.OneLine(err))
	}
	f.saw++
	group, _, _ := strings.Cut(h.APIVersion, "/")
	switch {
	case h.Kind == "Pod" && h.APIVersion == "v1":
		return decoded(f, from, h.Kind, raw, f.pod)
	case h.Kind == "Node" && h.APIVersion == "v1":
		return decoded(f, from, h.Kind, raw, f.node)
	case h.Kind == "Event" && group == "audit.k8s.io":
		return decoded(f, from, "audit event", raw, f.auditEvent)
	case h.Kind == "Event" && h.APIVersion == "v1":
		return decoded(f, from, h.Kind, raw, f.coreEvent)
	case h.Kind == "Event" && group == "events.k8s.io":
		return decoded(f, from, h.Kind, raw, f.newEvent)
	case h.Kind == "":
		return fail(from, "", "", "no apiVersion and kind: want the output of kubectl get -o yaml for pods, nodes or events, an audit log, or the response of Prometheus to a range query")
	}
	f.saw--
	f.c.counts[NoteOtherObjects]++
	return nil
}

func decoded[T corev1.Pod | corev1.Node | corev1.Event | eventsv1.Event | auditv1.Event](f *file, from dump.Origin, kind string, raw json.RawMessage, take func(dump.Origin, *T) error) error {
	var x T
	if err := json.Unmarshal(raw, &x); err != nil {
		return fail(from, kind, "", "not in the format of Kubernetes: %s", strict.OneLine(err))
	}
	return take(from, &x)
}

// names a time of the file: a listing was not taken before it.
func (f *file) names(at time.Time) {
	if at.After(f.last) {
		f.last = at
	}
}

// close puts together what the file as a whole says.
func (f *file) close() error {
	if f.saw == 0 {
		return &strict.Error{File: f.name, Problem: "has no pods and nodes: want the output of kubectl get pods,nodes -A -o yaml, an audit log, Kubernetes events, or the response of Prometheus to a range query"}
	}
	if err := f.listing(); err != nil {
		return err
	}
	return f.logged()
}
