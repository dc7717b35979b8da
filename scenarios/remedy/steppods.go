package remedy

import (
	"encoding/json"
	"fmt"
	"slices"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
)

// Restart deletes pods that a controller makes again, and waits until they run.
type Restart struct {
	Pods []model.PodRef // sorted
	// Elsewhere: their nodes take no pods meanwhile.
	Elsewhere bool
}

// Say says how many, and where they go.
func (r Restart) Say() string {
	out := "restart " + layout.Plural(len(r.Pods), "pod")
	if r.Elsewhere {
		out += ", which start elsewhere"
	}
	return out + "; go on when all of them run again"
}

// Commands have a line for each namespace.
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

// Perform deletes them, and waits for their successors.
func (r Restart) Perform(s *Stage) { s.remove(r.Pods) }

// Migrate moves a virtual machine to another node: its virt-launcher pod is nobody's to
// delete, for that would power the machine off.
type Migrate struct {
	Machine model.PodRef // the VirtualMachineInstance
	Pod     model.PodRef // its virt-launcher
	Node    string       // where it runs
}

// Say says which machine.
func (m Migrate) Say() string {
	return fmt.Sprintf("migrate the virtual machine %s, whose pod %s is; go on when it runs on another node, and if it cannot be migrated stop here", m.Machine, m.Pod)
}

// Commands create a VirtualMachineInstanceMigration.
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

// Perform makes the pod that the machine moves to, and deletes the other one.
func (m Migrate) Perform(s *Stage) { s.migrate(m) }

// Create is the command line that creates an object.
func Create(manifest json.RawMessage) string {
	return "echo " + reports.Shell(string(manifest)) + " | kubectl create -f -"
}

// Some lists things, the first few of many.
func Some[T any](all []T) string {
	out := make([]string, len(all))
	for i, x := range all {
		out[i] = fmt.Sprint(x)
	}
	return layout.Some(out)
}
