package cluster

import (
	"encoding/json"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deed is what an action does, without to whom: the same for all runs in which somebody
// does the like. See model.Event.Deed.
func deed(a Action) string {
	switch a := a.(type) {
	case event:
		return deed(a.Action)
	case *Apply:
		var m metav1.TypeMeta
		_ = json.Unmarshal(a.Object, &m) // Do says what is wrong with it
		return "apply " + m.Kind
	case *Command:
		var verbs []string
		for _, w := range strings.Fields(a.Run) {
			if strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
				break // the first argument: an option, an address, a file
			}
			verbs = append(verbs, w)
		}
		return strings.Join(verbs, " ")
	case *Delete:
		if a.Force {
			return "delete --force " + a.Resource
		}
		return "delete " + a.Resource
	case *Patch:
		return "patch " + a.Resource
	}
	kind := reflect.Indirect(reflect.ValueOf(a)).Type().Name() // Crash, CutSession
	return strings.ToLower(kind[:1]) + kind[1:]
}
