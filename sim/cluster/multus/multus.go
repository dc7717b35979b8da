// Package multus reads and writes the annotations of pods as Multus does.
package multus

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	nadv1 "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/apis/k8s.cni.cncf.io/v1"
	nadutils "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/utils"
	corev1 "k8s.io/api/core/v1"
)

// StatusAnnotation is the annotation with the addresses of a pod's networks.
const StatusAnnotation = nadv1.NetworkStatusAnnot

// Network is one network a pod asks for.
type Network struct {
	Key       string // namespace/name
	Interface string
}

// Asked caches parsed annotations: Multus' parser compiles its patterns each time, and a pod is
// parsed whenever it changes.
type Asked struct {
	mu sync.Mutex
	of map[[2]string][]Network // by namespace and annotation
}

// By is what a pod asks for, in order; nothing if its annotation cannot be read.
func (a *Asked) By(p *corev1.Pod) []Network {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := [2]string{p.Namespace, p.Annotations[nadv1.NetworkAttachmentAnnot]}
	out, ok := a.of[key]
	if !ok {
		if a.of == nil {
			a.of = map[[2]string][]Network{}
		}
		out, _ = Read(p)
		a.of[key] = out
	}
	return out
}

// Read reads the pod's networks annotation with Multus' own parser. An error,
// or a panic of the parser (it dereferences the nil of "[null]"), is the end of the
// plugin that reads it.
func Read(p *corev1.Pod) (out []Network, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, err = nil, fmt.Errorf("multus: panic: %v", v)
		}
	}()
	sel, err := nadutils.ParsePodNetworkAnnotation(p)
	if none := (*nadv1.NoK8sNetworkError)(nil); errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("multus: %w", err)
	}
	out = make([]Network, len(sel))
	for i, s := range sel {
		out[i] = Network{Key: s.Namespace + "/" + s.Name, Interface: s.InterfaceRequest}
		if out[i].Interface == "" {
			out[i].Interface = fmt.Sprintf("net%d", i+1)
		}
	}
	return out, nil
}

// Attached is one network that a pod got.
type Attached struct {
	Network
	Addrs []netip.Addr
}

// Status is the network-status annotation that Multus writes.
func Status(got []Attached) string {
	out := make([]nadv1.NetworkStatus, len(got))
	for i, a := range got {
		out[i] = nadv1.NetworkStatus{Name: a.Key, Interface: a.Interface}
		for _, addr := range a.Addrs {
			out[i].IPs = append(out[i].IPs, addr.String())
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		panic(err) // plain strings
	}
	return string(b)
}

// Addresses are the addresses in the network-status annotation for a network of the pod: those of
// its interface, or otherwise of its name. If interfaces have no names, the nth entry of a network
// belongs to the nth interface on it, from 0.
func Addresses(p *corev1.Pod, n Network, nth int) []string {
	var all []nadv1.NetworkStatus
	if json.Unmarshal([]byte(p.Annotations[StatusAnnotation]), &all) != nil {
		return nil
	}
	_, name, _ := strings.Cut(n.Key, "/")
	for _, same := range []func(nadv1.NetworkStatus) bool{
		func(s nadv1.NetworkStatus) bool { return s.Interface == n.Interface && s.Name == n.Key },
		func(s nadv1.NetworkStatus) bool { return s.Interface == n.Interface },
		func(s nadv1.NetworkStatus) bool {
			if s.Interface != "" || s.Name != n.Key && s.Name != name {
				return false
			}
			nth--
			return nth == -1
		},
	} {
		if i := slices.IndexFunc(all, same); i >= 0 {
			return all[i].IPs
		}
	}
	return nil
}
