package space_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/ipam"
)

// drawnMax is the number of worlds of each space to generate, unless fewer contain everything.
const drawnMax = 1500

// manifest is an object of a world, from the start or applied later, or a patch.
type manifest struct {
	Kind, APIVersion string
	Metadata         struct {
		Name        string
		Annotations map[string]any
	}
	Spec, Status map[string]any
	Data         map[string]string
	patch        bool
}

// calico reports whether the kind is Calico's.
func (m *manifest) calico() bool { return strings.Contains(m.APIVersion, "projectcalico.org/") }

// patched are the kinds of resources in patches.
var patched = map[string]manifest{
	"ippools.crd.projectcalico.org":                       {Kind: "IPPool", APIVersion: "crd.projectcalico.org/v1"},
	"kubecontrollersconfigurations.crd.projectcalico.org": {Kind: "KubeControllersConfiguration", APIVersion: "crd.projectcalico.org/v1"},
	"network-attachment-definitions.k8s.cni.cncf.io":      {Kind: "NetworkAttachmentDefinition"},
	"ipaddresspools":                  {Kind: "IPAddressPool"},
	"nodes":                           {Kind: "Node"},
	"services":                        {Kind: "Service"},
	"ippools.whereabouts.cni.cncf.io": {Kind: "IPPool"},
	"overlappingrangeipreservations.whereabouts.cni.cncf.io": {Kind: "OverlappingRangeIPReservation"},
}

// worlds calls do for every manifest of the worlds of all spaces, a hundred of each at a time,
// until enough returns true.
func worlds(t *testing.T, do func(*manifest), enough func() bool) {
	t.Helper()
	for seed := uint64(0); seed < drawnMax; seed++ {
		if seed%100 == 0 && enough() {
			t.Logf("%d worlds of each space draw all", seed)
			return
		}
		for _, m := range managers.All() {
			from, ok := ipam.Part[space.Space](m)
			if !ok || !hasKinds(m) {
				continue
			}
			s, err := space.Draw(managers.All(), from.Name, seed)
			if err != nil {
				t.Fatal(err)
			}
			manifests(t, s, do)
		}
	}
}

// hasKinds reports whether a manager, or one of its members, is configured by objects of its own
// kinds. Others are configured by flags.
func hasKinds(m *ipam.Manager) bool {
	return m.CRDs != nil || slices.ContainsFunc(m.Members, func(name string) bool { return hasKinds(managers.All().Find(name)) })
}

func manifests(t *testing.T, s *scenarios.Scenario, do func(*manifest)) {
	t.Helper()
	for _, o := range s.Objects {
		read(t, o.Body, do)
	}
	for _, e := range s.Doc.Spec.Timeline {
		switch a := e.Action.(type) {
		case *action.Apply:
			read(t, a.Object, do)
		case *action.Patch:
			if a.Merge != nil {
				patch(t, a.Resource, a.Merge, do)
			}
		}
	}
}

func read(t *testing.T, body json.RawMessage, do func(*manifest)) {
	t.Helper()
	m := manifest{}
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatal(err)
	}
	do(&m)
}

// patch calls do with a manifest for a patch.
func patch(t *testing.T, resource string, merge map[string]any, do func(*manifest)) {
	t.Helper()
	m, ok := patched[resource]
	if !ok {
		t.Fatalf("a world patches %s, of which this test does not know the kind", resource)
	}
	body, err := json.Marshal(merge)
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.patch = true
	do(&m)
}

// template returns the annotations of a workload's pods.
func (m *manifest) template(t *testing.T) (annotations map[string]any, ok bool) {
	t.Helper()
	switch m.Kind {
	case "Pod":
		return m.Metadata.Annotations, true
	case "StatefulSet", "Deployment", "DaemonSet", "Job":
		pod, _ := m.Spec["template"].(map[string]any)
		meta, _ := pod["metadata"].(map[string]any)
		annotations, _ = meta["annotations"].(map[string]any)
		return annotations, true
	}
	return nil, false
}

// within decodes JSON in a string.
func within[T any](t *testing.T, text string) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}
