package space_test

import (
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	nadv1 "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/apis/k8s.cni.cncf.io/v1"
	slicev1 "github.com/k8snetworkplumbingwg/whereabouts/pkg/api/whereabouts.cni.cncf.io/v1alpha1"
	"github.com/k8snetworkplumbingwg/whereabouts/pkg/types"
	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	calicotypes "github.com/projectcalico/calico/cni-plugin/pkg/types"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	metallbv1beta1 "go.universe.tf/metallb/api/v1beta1"
)

// The types with which users configure address management.
var (
	ipPool         = reflect.TypeFor[apiv3.IPPoolSpec]()
	ipamSettings   = reflect.TypeFor[libapiv3.IPAMConfigSpec]()
	newSettings    = reflect.TypeFor[apiv3.IPAMConfigurationSpec]()
	controllers    = reflect.TypeFor[apiv3.KubeControllersConfigurationSpec]()
	reservation    = reflect.TypeFor[apiv3.IPReservationSpec]()
	calicoPlugin   = reflect.TypeFor[calicotypes.NetConf]()
	attachment     = reflect.TypeFor[nadv1.NetworkAttachmentDefinitionSpec]()
	pluginList     = reflect.TypeFor[types.NetConfList]()
	plugin         = reflect.TypeFor[types.Net]()
	poolOfAddrs    = reflect.TypeFor[slicev1.IPPoolSpec]()
	addrTaken      = reflect.TypeFor[slicev1.OverlappingRangeIPReservationSpec]()
	nodeSlices     = reflect.TypeFor[slicev1.NodeSlicePoolSpec]()
	nodeSlicesDone = reflect.TypeFor[slicev1.NodeSlicePoolStatus]()
	selection      = reflect.TypeFor[nadv1.NetworkSelectionElement]()
	balancerPool   = reflect.TypeFor[metallbv1beta1.IPAddressPoolSpec]()
)

// Packages of upstream with the keys of annotations.
const (
	calicoModule   = "github.com/projectcalico/calico/"
	podSource      = calicoModule + "cni-plugin/pkg/k8s"
	dataplane      = calicoModule + "cni-plugin/pkg/dataplane/linux"
	conversion     = calicoModule + "libcalico-go/lib/backend/k8s/conversion"
	nodeSource     = calicoModule + "libcalico-go/lib/backend/k8s/resources"
	nodeController = calicoModule + "kube-controllers/pkg/controllers/node"
	multus         = "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/apis/k8s.cni.cncf.io/v1"
)

// Each boundary value of every field of upstream's configuration and of every annotation occurs in
// some world of some space, or is excluded with a reason.
func TestSpacesDrawUpstreamsConfiguration(t *testing.T) {
	src := newSource(t)
	bounds := maps.Clone(calicoBounds)
	maps.Copy(bounds, whereaboutsBounds)
	maps.Copy(bounds, metallbBounds)
	maps.Copy(bounds, annotationBounds)
	w := newWalk(bounds, src.enum, slices.Concat(calicoExclusions, whereaboutsExclusions, metallbExclusions, annotationExclusions))
	for _, t := range []reflect.Type{
		ipPool, ipamSettings, newSettings, controllers, reservation, calicoPlugin,
		attachment, pluginList, plugin, poolOfAddrs, addrTaken, nodeSlices, nodeSlicesDone, selection, balancerPool,
	} {
		w.root(t, "")
	}
	notes := map[string]reflect.Type{
		"Pod":       structOf(src.keys(podSource, dataplane, conversion, multus)),
		"Namespace": structOf(src.indexed(podSource, "annotNS")),
		"Node":      structOf(src.keys(nodeSource, nodeController)),
	}
	for _, kind := range slices.Sorted(maps.Keys(notes)) {
		w.root(notes[kind], kind)
	}
	worlds(t, func(m *manifest) { w.manifest(t, m, notes) }, func() bool { return len(w.missing()) == 0 })
	for _, c := range w.complaints() {
		t.Error(c)
	}
}

// manifest records what a manifest configures.
func (w *walk) manifest(t *testing.T, m *manifest, notes map[string]reflect.Type) {
	t.Helper()
	if annotations, ok := m.template(t); ok {
		w.note(notes["Pod"], annotations, m.patch)
		text, _ := annotations[nadv1.NetworkAttachmentAnnot].(string)
		if strings.HasPrefix(text, "[") {
			for _, e := range within[[]map[string]any](t, text) {
				w.note(selection, e, false)
			}
		}
		return
	}
	switch {
	case m.Kind == "Node", m.Kind == "Namespace":
		w.note(notes[m.Kind], m.Metadata.Annotations, m.patch)
	case m.Kind == "IPPool" && m.calico():
		w.note(ipPool, m.Spec, m.patch)
	case m.Kind == "IPAMConfig":
		w.note(ipamSettings, m.Spec, m.patch)
	case m.Kind == "IPAMConfiguration":
		w.note(newSettings, m.Spec, m.patch)
	case m.Kind == "KubeControllersConfiguration":
		w.note(controllers, m.Spec, m.patch)
	case m.Kind == "IPReservation":
		w.note(reservation, m.Spec, m.patch)
	case m.Kind == "ConfigMap":
		for _, p := range within[struct{ Plugins []map[string]any }](t, m.Data["cni_network_config"]).Plugins {
			w.note(calicoPlugin, p, false)
		}
	case m.Kind == "NetworkAttachmentDefinition":
		w.note(attachment, m.Spec, m.patch)
		conf := within[map[string]any](t, m.Spec["config"].(string))
		if conf["plugins"] == nil {
			w.note(plugin, conf, false)
		} else {
			w.note(pluginList, conf, false)
		}
	case m.Kind == "IPAddressPool":
		w.note(balancerPool, m.Spec, m.patch)
	case m.Kind == "IPPool":
		w.note(poolOfAddrs, m.Spec, m.patch)
	case m.Kind == "OverlappingRangeIPReservation":
		w.note(addrTaken, m.Spec, m.patch)
	case m.Kind == "NodeSlicePool":
		w.note(nodeSlices, m.Spec, m.patch)
		w.note(nodeSlicesDone, m.Status, m.patch)
	}
}

// exactly returns boundary values, compared by their printed form.
func exactly(values ...any) []bound {
	var out []bound
	for _, v := range values {
		text := fmt.Sprint(v)
		out = append(out, bound{text, func(v any, _ map[string]any) bool { return printed(v) == text }})
	}
	return out
}

// printed returns a JSON value as users write it: 20, not 2e+01.
func printed(v any) string {
	if f, ok := v.(float64); ok {
		return fmt.Sprint(int64(f))
	}
	return fmt.Sprint(v)
}

// texts is a class of strings.
func texts(class string, of func(text string) bool) bound {
	return bound{class, func(v any, _ map[string]any) bool { return of(printed(v)) }}
}

// among is a class of strings that depends on the value of another field.
func among(class, key string, of func(text, other string) bool) bound {
	return bound{class, func(v any, beside map[string]any) bool {
		return beside[key] != nil && of(printed(v), printed(beside[key]))
	}}
}

// prefix parses a prefix. The result is invalid if the text is no prefix.
func prefix(text string) netip.Prefix {
	p, _ := netip.ParsePrefix(text)
	return p.Masked()
}

func addr(text string) netip.Addr {
	a, _ := netip.ParseAddr(text)
	return a
}

func isPrefix(text string) bool { return prefix(text).IsValid() }
func four(text string) bool     { return !strings.Contains(text, ":") }
func six(text string) bool      { return strings.Contains(text, ":") }
func listed(text string) bool   { return strings.Contains(text, ",") }
