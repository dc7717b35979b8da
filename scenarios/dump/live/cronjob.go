package live

import (
	"cmp"
	_ "embed" // the manifest
	"maps"
	"slices"
	"strconv"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"ipamsim/scenarios/dump"
	"ipamsim/sim/ipam"
)

//go:embed cronjob.tmpl
var cronJob string

// account is the name of all that the manifest has, and its namespace.
const account, accountNamespace = "ipamsim-import", "ipamsim"

// CronJob returns a manifest of several documents: a job that imports the cluster in which
// it runs every hour, with a container image of ipamsim, and what it needs. Its rights are
// those of Rules.
func CronJob(managers []*ipam.Manager, image string) string {
	rules := Rules(managers)
	var docs []string
	for _, namespace := range slices.Sorted(maps.Keys(rules)) {
		for _, o := range rights(namespace, rules[namespace]) {
			text, err := yaml.Marshal(o)
			if err != nil {
				panic(err) // a struct of strings
			}
			docs = append(docs, string(text))
		}
	}
	return strings.NewReplacer("\nrights\n", "\n"+strings.Join(docs, "---\n"), "IMAGE", strconv.Quote(image)).Replace(cronJob)
}

// rights are a role with these rules and its binding; in all namespaces if none is
// named.
func rights(namespace string, rules []rbacv1.PolicyRule) []any {
	meta := metav1.ObjectMeta{Name: account, Namespace: namespace}
	ref := func(kind string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: account}
	}
	who := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: accountNamespace}}
	of := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
	}
	if namespace == "" {
		return []any{
			rbacv1.ClusterRole{TypeMeta: of("ClusterRole"), ObjectMeta: meta, Rules: rules},
			rbacv1.ClusterRoleBinding{TypeMeta: of("ClusterRoleBinding"), ObjectMeta: meta, Subjects: who, RoleRef: ref("ClusterRole")},
		}
	}
	return []any{
		rbacv1.Role{TypeMeta: of("Role"), ObjectMeta: meta, Rules: rules},
		rbacv1.RoleBinding{TypeMeta: of("RoleBinding"), ObjectMeta: meta, Subjects: who, RoleRef: ref("Role")},
	}
}

// Rules returns the rights that Read needs, and no others, by namespace: to get and list each resource that
// it reads, one rule for an API group and one for a named object, sorted. "" is all namespaces. Resources
// that may not be listed are skipped and reported.
func Rules(managers []*ipam.Manager) map[string][]rbacv1.PolicyRule {
	type place struct{ namespace, group, only string }
	by := map[place][]string{}
	all := dump.Resources(managers)
	for i := range all {
		if r := &all[i]; r.By != dump.Tool {
			at := place{r.Namespace, r.Group(), r.Only}
			by[at] = append(by[at], r.Plural)
		}
	}
	out := map[string][]rbacv1.PolicyRule{}
	for at, resources := range by {
		slices.Sort(resources)
		rule := rbacv1.PolicyRule{APIGroups: []string{at.group}, Resources: slices.Compact(resources), Verbs: []string{"get", "list"}}
		if at.only != "" { // a list by metadata.name is one of that name
			rule.ResourceNames = []string{at.only}
		}
		out[at.namespace] = append(out[at.namespace], rule)
	}
	for _, rules := range out {
		slices.SortFunc(rules, func(a, b rbacv1.PolicyRule) int {
			return cmp.Or(strings.Compare(a.APIGroups[0], b.APIGroups[0]), slices.Compare(a.ResourceNames, b.ResourceNames))
		})
	}
	return out
}
