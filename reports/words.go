package reports

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// words says what a step did: in the address manager's own words where it has
// any, in Kubernetes' otherwise, and with its method and key if it is neither.
// The text is clean and has no subject: "reads pool … at revision 18".
func (r *Report) words(s *sim.Step) string {
	x, ok := s.Detail.(kube.Exchange)
	text := ""
	if s.Detail != nil && r.Describe != nil {
		text = r.Describe(s.Detail)
	}
	if ok && text == "" {
		text = kubernetes(x)
	}
	if text == "" {
		text = s.Choice.Op.Key
	}
	if m, own := s.Detail.(ipam.Message); own && text != s.Choice.Op.Key && m.Refused() != "" && !s.Choice.Outcome.Fault() {
		return Clean(text) // which says it
	}
	return Clean(text) + Clean(answer(s))
}

// answer is what came of a step, where that is not what everybody expects.
func answer(s *sim.Step) string {
	x, known := s.Detail.(kube.Exchange)
	m, own := s.Detail.(ipam.Message)
	switch o := s.Choice.Outcome; {
	case o.Fault() && o != sim.LoseReply && o != sim.Stale:
		return " -> FAULT " + o.String()
	case o == sim.LoseReply:
		return " -> FAULT lose-reply: done, but the answer is lost"
	case o == sim.Stale:
		return " -> FAULT stale: an older state is read"
	case known && x.Status >= http.StatusBadRequest:
		reason := x.Reason
		if reason == "" {
			reason = http.StatusText(x.Status)
		}
		return strings.TrimRight(fmt.Sprintf(" -> %d %s", x.Status, reason), " ")
	case known && x.Verb != "get" && x.Verb != "list" && x.Verb != "watch":
		if _, rev, ok := strings.Cut(s.Note, "rv="); ok {
			return " -> revision " + rev
		}
	case own && m.Refused() != "":
		return " -> " + reason(m.Refused())
	case own && s.Choice.Op.Kind == sim.Write && m.Revision() != "":
		return " -> revision " + m.Revision()
	}
	return ""
}

// object is the part of a Kubernetes object that a reader of a timeline needs.
type object struct {
	Metadata struct {
		Namespace         string            `json:"namespace"`
		Name              string            `json:"name"`
		ResourceVersion   string            `json:"resourceVersion"`
		DeletionTimestamp *string           `json:"deletionTimestamp"`
		Annotations       map[string]string `json:"annotations"`
	} `json:"metadata"`
	Status struct {
		Phase string `json:"phase"`
		PodIP string `json:"podIP"`
	} `json:"status"`
	Items []object `json:"items"`
}

// statusAnnotation is where Multus writes the addresses that a pod got.
const statusAnnotation = "k8s.v1.cni.cncf.io/network-status"

// networksAnnotation asks Multus for them.
const networksAnnotation = "k8s.v1.cni.cncf.io/networks"

func (o *object) key() string {
	return strings.TrimPrefix(o.Metadata.Namespace+"/"+o.Metadata.Name, "/")
}

// addresses of network-status; ok is false if the pod has none yet.
func (o *object) addresses() (addrs []string, ok bool) {
	text, ok := o.Metadata.Annotations[statusAnnotation]
	var status []struct {
		IPs []string `json:"ips"`
	}
	_ = json.Unmarshal([]byte(text), &status) // somebody else's mistake: no addresses then
	for _, s := range status {
		addrs = append(addrs, s.IPs...)
	}
	return addrs, ok
}

// state is how a reader of the API sees a pod.
func (o *object) state() string {
	s := o.Status.Phase
	if s == "" {
		s = "Pending"
	}
	if o.Metadata.DeletionTimestamp != nil {
		s += ", being deleted"
	}
	switch addrs, ok := o.addresses(); {
	case ok:
		return s + ", network-status " + strings.Join(addrs, " ")
	case o.Metadata.Annotations[networksAnnotation] != "":
		return s + ", no network-status yet"
	case o.Status.PodIP != "":
		return s + ", " + o.Status.PodIP
	}
	return s + ", no address yet"
}

func parse(body []byte) *object {
	o := &object{}
	if json.Unmarshal(kube.JSON(body), o) != nil {
		return &object{}
	}
	return o
}

// kubernetes puts requests about pods, which every address manager's story
// needs, into words. Nothing else is worth a sentence: verb and object do.
func kubernetes(x kube.Exchange) string {
	name := strings.TrimPrefix(x.Namespace+"/"+x.Name, "/")
	if x.Verb == "event" {
		return "" // the key says it all
	}
	if x.Resource == "pods" && !x.Bare {
		switch x.Verb {
		case "get":
			if x.Status < 300 {
				return "reads pod " + name + ": " + parse(x.Response).state()
			}
		case "list":
			if n := len(parse(x.Response).Items); n > 0 {
				return fmt.Sprintf("lists %s", plural(n, "pod"))
			}
		case "patch", "update":
			return podWrite(name, x)
		}
	}
	what := x.Resource
	if x.Subresource != "" {
		what += "/" + x.Subresource
	}
	if x.Verb == "" {
		return strings.TrimSpace(x.Method + " " + x.Path)
	}
	return strings.TrimSpace(third(x.Verb) + " " + what + " " + name)
}

func podWrite(name string, x kube.Exchange) string {
	o := parse(x.Request)
	if addrs, ok := o.addresses(); ok {
		return "writes network-status of pod " + name + ": " + strings.Join(addrs, " ")
	}
	if o.Status.Phase != "" {
		return "writes status of pod " + name + ": " + o.Status.Phase
	}
	return third(x.Verb) + " pod " + name
}

// third is a verb in the third person.
func third(verb string) string {
	switch {
	case strings.HasSuffix(verb, "tch"):
		return verb + "es"
	case verb == "deletecollection":
		return "deletes all of"
	}
	return verb + "s"
}
