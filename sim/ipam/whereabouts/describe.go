package whereabouts

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"

	"ipamsim/sim/kube"
)

// Describe puts an exchange into the words of Whereabouts' bug reports: what was
// read at which revision, what a patch writes or removes and under which
// condition, who takes the lease. It says nothing of requests that need none.
func (i *instance) Describe(detail any) string {
	x, ok := detail.(kube.Exchange)
	if !ok || x.Bare {
		return ""
	}
	switch x.Resource {
	case poolsResource:
		return describePool(x)
	case reservationsResource:
		return describeReservation(x)
	case "leases":
		return describeLease(x)
	case "pods":
		return describePod(x)
	case "nodeslicepools":
		return describeSlices(x)
	}
	return ""
}

// stored is the part of an object that a description needs. It reads IPPools,
// reservations, leases, node slices, pods, lists of them and watch events.
type stored struct {
	Type     string  `json:"type"`   // of a watch event
	Object   *stored `json:"object"` // of a watch event
	Metadata struct {
		Namespace       string            `json:"namespace"`
		Name            string            `json:"name"`
		ResourceVersion string            `json:"resourceVersion"`
		Deletion        *string           `json:"deletionTimestamp"`
		Annotations     map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Range          string                `json:"range"`
		Allocations    map[string]allocation `json:"allocations"`
		PodRef         string                `json:"podref"`
		HolderIdentity *string               `json:"holderIdentity"`
		AcquireTime    string                `json:"acquireTime"`
		RenewTime      string                `json:"renewTime"`
	} `json:"spec"`
	Status struct {
		Phase       string `json:"phase"`
		Allocations []struct {
			NodeName   string `json:"nodeName"`
			SliceRange string `json:"sliceRange"`
		} `json:"allocations"`
	} `json:"status"`
	Items []stored `json:"items"`
}

type allocation struct {
	ID     string `json:"id"`
	PodRef string `json:"podref"`
	IfName string `json:"ifname"`
}

// read decodes a body; what cannot be read is an empty object. A Status in place
// of an answer has a status of another shape.
func read(body []byte) *stored {
	s := &stored{}
	if json.Unmarshal(kube.JSON(body), s) != nil {
		return &stored{}
	}
	return s
}

// answered reports whether the server said yes, and with what.
func answered(x kube.Exchange) (*stored, bool) {
	if x.Status < http.StatusOK || x.Status >= http.StatusMultipleChoices {
		return nil, false
	}
	return read(x.Response), true
}

func describeReservation(x kube.Exchange) string {
	_, a, ok := reserved(x.Name)
	what := a.String()
	if !ok {
		what = x.Name
	}
	switch x.Verb {
	case "create":
		return strings.TrimSpace("reserves " + what + " across ranges for " + read(x.Request).Spec.PodRef)
	case "delete":
		return "drops the reservation of " + what
	case "get":
		if o, ok := answered(x); ok {
			return "sees that " + what + " is reserved by " + o.Spec.PodRef
		}
		if x.Status == http.StatusNotFound {
			return "sees that nobody reserved " + what
		}
		return "asks who reserved " + what
	case "list":
		if o, ok := answered(x); ok && x.Response != nil {
			return "reads " + count(len(o.Items), "reservation")
		}
		return "reads the reservations"
	}
	return ""
}

// describeLease tells taking from renewing as client-go writes them: the time of
// taking is that of the last renewal only when it is taken.
//
// Source: client-go/tools/leaderelection, tryAcquireOrRenew and release.
func describeLease(x kube.Exchange) string {
	lease := "the lease"
	if x.Name != "whereabouts" {
		lease += " " + x.Name
	}
	switch x.Verb {
	case "get":
		o, ok := answered(x)
		switch {
		case !ok && x.Status == http.StatusNotFound:
			return "sees that " + lease + " does not exist"
		case !ok:
			return "reads " + lease
		case o.Spec.HolderIdentity == nil || *o.Spec.HolderIdentity == "":
			return "reads " + lease + ": nobody holds it"
		}
		return "reads " + lease + ": " + *o.Spec.HolderIdentity + " holds it"
	case "create", "update":
		s := read(x.Request).Spec
		switch {
		case s.HolderIdentity == nil || *s.HolderIdentity == "":
			return "releases " + lease
		case s.AcquireTime == s.RenewTime:
			return "takes " + lease + " as " + *s.HolderIdentity
		}
		return "renews " + lease + " as " + *s.HolderIdentity
	}
	return ""
}

func describeSlices(x kube.Exchange) string {
	list := func(o *stored) string {
		var held []string
		for _, a := range o.Status.Allocations {
			if a.NodeName != "" {
				held = append(held, a.SliceRange+" "+a.NodeName)
			}
		}
		if len(held) == 0 {
			return fmt.Sprintf(": %d, no node has one", len(o.Status.Allocations))
		}
		return ": " + some(held)
	}
	switch x.Verb {
	case "get":
		if o, ok := answered(x); ok {
			return "reads the node slices " + x.Name + list(o)
		}
		return "asks for the node slices " + x.Name
	case "create":
		return "cuts the node slices " + x.Name + list(read(x.Request))
	case "update":
		return "writes the node slices " + x.Name + list(read(x.Request))
	case "delete":
		return "deletes the node slices " + x.Name
	}
	return ""
}

// short names a pod as people do: without the default namespace.
func short(podref string) string {
	if s := strings.TrimPrefix(podref, "default/"); s != "" {
		return s
	}
	return "nobody"
}

// someMax is how many of a list a sentence names.
const someMax = 6

func some(all []string) string {
	if len(all) <= someMax {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s, … %d in all", strings.Join(all[:someMax-1], ", "), len(all))
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// firstOf is the address that a pool's range is written with.
func firstOf(text string) net.IP {
	ip, _, err := net.ParseCIDR(text)
	if err != nil {
		return nil
	}
	return ip
}
