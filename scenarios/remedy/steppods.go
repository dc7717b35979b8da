package remedy

import (
	"encoding/json"
	"fmt"
	"slices"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
)

// Restart deletes pods that a controller recreates, and waits until they run.
type Restart struct {
	Pods []model.PodRef // sorted
	// Elsewhere: their nodes are cordoned, so the replacements start on other nodes.
	Elsewhere bool
}

// Say describes how many pods restart, and where.
func (r Restart) Say() string {
	out := "restart " + layout.Plural(len(r.Pods), "pod")
	if r.Elsewhere {
		out += ", which then start on other nodes"
	}
	return out + "; continue when all of them run again"
}

// Commands returns a line for each namespace.
func (r Restart) Commands() []string {
	by := map[string][]string{}
	var spaces []string
	for _, p := range r.Pods {
		if by[p.Namespace] == nil {
			spaces = append(spaces, p.Namespace)
		}
		by[p.Namespace] = append(by[p.Namespace], p.Name)
	}
	slices.Sort(spaces)
	var out []string
	for _, ns := range spaces {
		out = append(out, "kubectl delete pod -n "+reports.Shell(ns)+" "+Shell(by[ns]))
	}
	return out
}

// Perform deletes the pods and waits for their replacements.
func (r Restart) Perform(s *Script) { s.remove(r.Pods) }

// Migrate moves a virtual machine to another node. Deleting its virt-launcher pod instead
// would power the machine off.
type Migrate struct {
	Machine model.PodRef // the VirtualMachineInstance
	Pod     model.PodRef // its virt-launcher pod
	Node    string       // the node that it runs on
}

// Say describes the migration.
func (m Migrate) Say() string {
	return fmt.Sprintf("migrate the virtual machine %s (pod %s); continue when it runs on another node, and stop here if it cannot be migrated", m.Machine, m.Pod)
}

// Commands returns the creation of a VirtualMachineInstanceMigration.
func (m Migrate) Commands() []string {
	type migration struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Metadata   map[string]string `json:"metadata"`
		Spec       map[string]string `json:"spec"`
	}
	text, _ := json.Marshal(migration{
		"kubevirt.io/v1", "VirtualMachineInstanceMigration",
		map[string]string{"generateName": m.Machine.Name + "-", "namespace": m.Machine.Namespace},
		map[string]string{"vmiName": m.Machine.Name},
	})
	return []string{
		Create(text),
		fmt.Sprintf("kubectl get vmi -n %s %s -w", reports.Shell(m.Machine.Namespace), reports.Shell(m.Machine.Name)),
	}
}

// Perform creates the pod that the machine moves to, and deletes the old one.
func (m Migrate) Perform(s *Script) { s.migrate(m) }

// Create returns the command line that creates an object.
func Create(manifest json.RawMessage) string {
	return "echo " + reports.Shell(string(manifest)) + " | kubectl create -f -"
}

// Some lists things; of many, only the first few.
func Some[T any](all []T) string {
	out := make([]string, len(all))
	for i, x := range all {
		out[i] = fmt.Sprint(x)
	}
	return layout.Some(out)
}
