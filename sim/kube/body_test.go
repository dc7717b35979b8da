package kube

import (
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
)

// bodies are the same things in JSON and in protobuf.
func bodies(t *testing.T) map[string][2][]byte {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "web", GenerateName: "we", Namespace: "default", ResourceVersion: "7", Labels: map[string]string{"resourceVersion": "8"},
	}}
	pod.APIVersion, pod.Kind, pod.Status.Phase = "v1", "Pod", corev1.PodRunning
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}, Items: []corev1.Pod{*pod}}
	list.APIVersion, list.Kind, list.Items[0].TypeMeta = "v1", "PodList", metav1.TypeMeta{} // which no server repeats
	status := apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "web", nil).ErrStatus
	status.APIVersion, status.Kind = "v1", "Status"
	out := map[string][2][]byte{}
	for name, obj := range map[string]runtime.Object{"pod": pod, "list": list, "status": &status} {
		p, err := Protobuf(obj)
		if err != nil {
			t.Fatal(err)
		}
		j, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = [2][]byte{j, p}
	}
	event := metav1.WatchEvent{Type: "MODIFIED", Object: runtime.RawExtension{Raw: out["pod"][1]}}
	b, err := event.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	event.Object.Raw = out["pod"][0]
	j, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	out["event"] = [2][]byte{j, append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)}
	return out
}

// A trace describes a body in the same way, whatever its encoding.
func TestTextAt(t *testing.T) {
	want := map[string]map[string]string{
		"pod":    {"metadata.name": "web", "metadata.generateName": "we", "metadata.namespace": "default", "metadata.resourceVersion": "7"},
		"list":   {"metadata.resourceVersion": "9"},
		"status": {"reason": "Conflict"},
		"event": {
			"type": "MODIFIED", "object.metadata.name": "web", "object.metadata.namespace": "default", "object.metadata.resourceVersion": "7",
		},
	}
	for name, b := range bodies(t) {
		for _, path := range []string{
			"metadata.name", "metadata.generateName", "metadata.namespace", "metadata.resourceVersion", "reason",
			"type", "object.metadata.name", "object.metadata.namespace", "object.metadata.resourceVersion",
		} {
			for i, in := range []string{"JSON", "protobuf"} {
				if got := textAt(b[i], path); got != want[name][path] {
					t.Errorf("%s of %s in %s is %q, want %q", path, name, in, got, want[name][path])
				}
			}
		}
	}
}

// The description of a protobuf body equals the JSON that would have been sent.
func TestJSON(t *testing.T) {
	for name, b := range bodies(t) {
		if d := cmp.Diff(string(b[0]), string(JSON(b[1]))); d != "" {
			t.Errorf("%s (-JSON +protobuf):\n%s", name, d)
		}
		if d := cmp.Diff(string(b[0]), string(JSON(b[0]))); d != "" {
			t.Errorf("%s in JSON has changed:\n%s", name, d)
		}
	}
	if JSON(nil) != nil || JSON([]byte("k8s\x00nonsense")) != nil {
		t.Error("something was read in nothing")
	}
}

// Truncated or modified bodies are read to the end without a panic.
func TestTextAtSurvivesAnything(t *testing.T) {
	all := bodies(t)
	rapid.Check(t, func(t *rapid.T) {
		b := append([]byte(nil), all[rapid.SampledFrom([]string{"event", "list", "pod", "status"}).Draw(t, "which")][1]...)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "where")] = rapid.Byte().Draw(t, "byte")
		}
		b = b[:rapid.IntRange(0, len(b)).Draw(t, "cut")]
		for _, path := range []string{"metadata.resourceVersion", "object.metadata.name", "type", "reason"} {
			textAt(b, path)
		}
		JSON(b)
	})
}

// What the garbage collector asks for is of no kind that Kubernetes' own scheme knows.
func TestJSONOfMetadata(t *testing.T) {
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "net1"}}
	obj.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
	obj.APIVersion = "meta.k8s.io/v1"
	b, err := Protobuf(obj)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(JSON(b)); !strings.Contains(got, `"kind":"PartialObjectMetadata"`) || !strings.Contains(got, `"net1"`) {
		t.Errorf("as JSON %q", got)
	}
}
