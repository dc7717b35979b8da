package live

import (
	_ "embed" // the manifest
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"ipamsim/scenarios/dump"
)

//go:embed cronjob.tmpl
var cronJob string

// CronJob is a manifest, of several documents, of a job that imports the cluster in
// which it runs every hour. Its ClusterRole allows Rules.
func CronJob() string {
	rules, err := yaml.Marshal(struct {
		Rules []rbacv1.PolicyRule `json:"rules"`
	}{Rules()})
	if err != nil {
		panic(err) // a slice of structs of strings
	}
	return strings.Replace(cronJob, "rules: []\n", string(rules), 1)
}

// Rules are the rights that Read needs, and no others: to get and list each resource
// that it reads, by API group, sorted; then the objects that are read by name. Who may not
// list one is told so, and the rest is read.
func Rules() []rbacv1.PolicyRule {
	by := map[string][]string{}
	var named []rbacv1.PolicyRule
	for _, r := range dump.Resources() {
		switch {
		case r.By == dump.Calicoctl:
		case r.Only != "":
			named = append(named, rbacv1.PolicyRule{APIGroups: []string{r.Group()}, Resources: []string{r.Plural}, ResourceNames: []string{r.Only}, Verbs: verbs})
		default:
			by[r.Group()] = append(by[r.Group()], r.Plural)
		}
	}
	var out []rbacv1.PolicyRule
	for group, resources := range by {
		slices.Sort(resources)
		out = append(out, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: slices.Compact(resources), Verbs: verbs})
	}
	slices.SortFunc(out, func(a, b rbacv1.PolicyRule) int { return strings.Compare(a.APIGroups[0], b.APIGroups[0]) })
	return append(out, named...)
}

var verbs = []string{"get", "list"}
