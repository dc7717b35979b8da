package kube

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// JSON converts the body of a request or answer, or an event of a watch, to JSON: typed
// clients and the API server use protobuf for Kubernetes' own resources. It returns nil if it
// cannot read the body.
func JSON(body []byte) []byte {
	event, isEvent := frame(body)
	switch {
	case isEvent:
		e := metav1.WatchEvent{}
		if e.Unmarshal(event) != nil {
			return nil
		}
		e.Object.Raw = JSON(e.Object.Raw)
		b, _ := json.Marshal(e)
		return b
	case !bytes.HasPrefix(body, envelope):
		return body
	}
	obj, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		obj, _, err = metadata().Decode(body, nil, nil)
	}
	if err != nil {
		return nil
	}
	b, _ := json.Marshal(obj)
	return b
}

// metadata decodes the kinds that clients can request for any resource: PartialObjectMetadata,
// Table.
var metadata = sync.OnceValue(func() runtime.Decoder {
	s := runtime.NewScheme()
	utilruntime.Must(metav1.AddMetaToScheme(s))
	return serializer.NewCodecFactory(s).UniversalDeserializer()
})

// Protobuf encodes one of Kubernetes' own objects, with kind and version, as typed clients
// send it.
func Protobuf(obj runtime.Object) ([]byte, error) {
	return runtime.Encode(protobuf.NewSerializer(nil, nil), obj)
}

// envelope is the first bytes of every object in protobuf; a runtime.Unknown follows.
//
// Source: apimachinery, runtime/serializer/protobuf.
var envelope = []byte("k8s\x00")

// frame returns the message in a frame of a protobuf watch: four bytes of length, big endian,
// and a metav1.WatchEvent. No frame begins like JSON or an object: its length would be a
// gigabyte.
//
// Source: apimachinery, util/framer.
func frame(b []byte) (event []byte, ok bool) {
	if len(b) < frameHead || binary.BigEndian.Uint32(b) != uint32(len(b)-frameHead) {
		return nil, false
	}
	return b[frameHead:], true
}

const frameHead = 4

// textAt returns the string at a path in an object or in an event of a watch, or "":
// "metadata.name", "object.metadata.resourceVersion". It decodes nothing else.
func textAt(body []byte, path string) string {
	if event, ok := frame(body); ok {
		what, rest, _ := strings.Cut(path, ".")
		switch what {
		case "type":
			return string(field(event, 1))
		case "object":
			return textAt(field(event, 2, 1), rest)
		}
		return ""
	}
	if !bytes.HasPrefix(body, envelope) {
		return text(body, strings.Split(path, ".")...)
	}
	unknown := body[len(envelope):]
	kind, obj := string(field(unknown, 1, 2)), field(unknown, 2)
	numbers := ofObject
	switch {
	case kind == "Status":
		numbers = ofStatus
	case strings.HasSuffix(kind, "List"):
		numbers = ofList
	}
	return string(field(obj, numbers[path]...))
}

// The field numbers that a trace needs.
//
// Source: apimachinery, apis/meta/v1/generated.proto: ObjectMeta, ListMeta, Status.
var (
	ofObject = map[string][]uint64{
		"metadata.name": {1, 1}, "metadata.generateName": {1, 2}, "metadata.namespace": {1, 3}, "metadata.resourceVersion": {1, 6},
	}
	ofList   = map[string][]uint64{"metadata.resourceVersion": {1, 2}}
	ofStatus = map[string][]uint64{"reason": {4}}
)

// field returns the first field at a path of numbers in a protobuf message. Each field but the
// last is a message; the last may be a string. It returns nil if there is no such field, and
// for an empty path.
func field(msg []byte, path ...uint64) []byte {
	if len(path) == 0 {
		return nil
	}
	for _, want := range path {
		found := false
		for len(msg) > 0 && !found {
			var key uint64
			var value []byte
			if key, value, msg = next(msg); key == want {
				msg, found = value, true
			}
		}
		if !found {
			return nil
		}
	}
	return msg
}

// next splits a protobuf message after its first field. The value is nil for a number; rest is
// empty if the message is malformed.
//
// Source: protobuf.dev/programming-guides/encoding.
func next(msg []byte) (number uint64, value, rest []byte) {
	key, n := binary.Uvarint(msg)
	if n <= 0 {
		return 0, nil, nil
	}
	msg = msg[n:]
	size := uint64(0)
	switch key & 7 {
	case 0:
		_, n := binary.Uvarint(msg)
		size = uint64(max(n, 0))
	case 1:
		size = 8
	case 2:
		length, n := binary.Uvarint(msg)
		if n <= 0 || length > uint64(len(msg)-n) {
			return 0, nil, nil
		}
		return key >> 3, msg[n : n+int(length)], msg[n+int(length):]
	case 5:
		size = 4
	}
	if size == 0 || size > uint64(len(msg)) {
		return 0, nil, nil
	}
	return key >> 3, nil, msg[size:]
}
