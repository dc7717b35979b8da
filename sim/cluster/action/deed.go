package action

import (
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Deed names the kind that is applied. See cluster.Deed.
func (a *Apply) Deed() string {
	var m metav1.TypeMeta
	_ = json.Unmarshal(a.Object, &m) // Do says what is wrong with it
	return "apply " + m.Kind
}

// Deed is the command without its arguments.
func (a *Command) Deed() string {
	var verbs []string
	for _, w := range strings.Fields(a.Run) {
		if strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
			break // the first argument: an option, an address, a file
		}
		verbs = append(verbs, w)
	}
	return strings.Join(verbs, " ")
}

// Deed names the resource.
func (a *Delete) Deed() string {
	if a.Force {
		return "delete --force " + a.Resource
	}
	return "delete " + a.Resource
}

// Deed names the resource.
func (a *Patch) Deed() string { return "patch " + a.Resource }
