package replay

import (
	"bytes"
	"net/http"
	"strings"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Recording is what a run asked its API server, in the order of the answers.
type Recording struct {
	Scenario string
	// Controlled: Kubernetes' own controllers ran, which need admission.
	Controlled bool
	CRDs       []*apiextv1.CustomResourceDefinition
	Messages   []*Message
}

// Add a message.
func (r *Recording) Add(m Message) error {
	parsed, err := parsed(m)
	if err == nil {
		r.Messages = append(r.Messages, parsed)
	}
	return err
}

// Message is a request with its answer: see kube.Message.
type Message struct {
	Method, URI         string // /api/v1/pods?watch=1
	ContentType, Accept string
	Body                []byte
	Status              int
	Answer              []byte // nil for a watch that opened
	Events              Events // nil if the message is no watch
	Stale, Found        bool
	JSON                func(body []byte) []byte // reads bodies and events, as kube.JSON; nil: they are JSON

	path, verb, resource, subresource, namespace, name string // what the path says
}

// Events are the events of a watch: see kube.Events.
type Events interface {
	Bytes() []byte
	Until() int64
}

func (m *Message) json(body []byte) []byte {
	if m.JSON == nil {
		return body
	}
	return m.JSON(body)
}

var paths = &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// parsed reads the path of a message.
func parsed(m Message) (*Message, error) {
	req, err := http.NewRequest(m.Method, "http://sim"+m.URI, nil)
	if err != nil {
		return nil, err
	}
	i, err := paths.NewRequestInfo(req)
	if err != nil {
		return nil, err
	}
	m.path, m.verb, m.resource, m.subresource, m.namespace, m.name = req.URL.Path, i.Verb, i.Resource, i.Subresource, i.Namespace, i.Name
	if tree, err := decode(m.json(m.Body)); err == nil && m.name == "" {
		m.name = field(tree, "metadata", "name")
	}
	return &m, nil
}

// asJSON is a content type, or what is accepted, without protobuf.
func asJSON(kind string) string {
	return strings.ReplaceAll(kind, "application/vnd.kubernetes.protobuf", "application/json")
}

// answer is the answer as JSON.
func (m *Message) answer() (any, error) {
	tree, err := decode(m.json(m.Answer))
	if l, ok := tree.(map[string]any); ok && bytes.HasPrefix(m.Answer, []byte("k8s\x00")) {
		if items, ok := l["items"]; ok && items == nil {
			l["items"] = []any{} // in protobuf an empty list is none
		}
	}
	return tree, err
}

// there reports whether a run creates what a real server has from the beginning.
func (m *Message) there() bool {
	if m.verb != "create" || m.subresource != "" {
		return false
	}
	return m.resource == "namespaces" && systemNamespace[m.name] || m.resource == "services" && m.namespaced() == "default/kubernetes"
}

// namespaced is the identity of the object.
func (m *Message) namespaced() string {
	if m.resource == "namespaces" {
		return "/" + m.name
	}
	return m.namespace + "/" + m.name
}
