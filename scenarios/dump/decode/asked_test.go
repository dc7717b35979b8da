package decode

import (
	"fmt"
	"testing"
)

func said(a *Asked) string {
	if a == nil {
		return "a part"
	}
	return fmt.Sprintf("%v %v %s", a.Resources, a.All, a.Namespace)
}

// What a command prints all of, by the line that a terminal or a file records.
func TestAskedBy(t *testing.T) {
	for line, want := range map[string]string{
		"$ kubectl get pods -A -o yaml":                                      "[pods] true ",
		"[root@bastion ~]# kubectl get po,no --all-namespaces -ojson":        "[po no] true ",
		"# kubectl --context prod -n shop get pods -o yaml":                  "[pods] false shop",
		"user@host:~$ sudo /usr/local/bin/kubectl get pods -o yaml":          "[pods] false ",
		"+ oc get pods -A --chunk-size=500 -o yaml 2>/dev/null | tee x.yaml": "[pods] true ",
		"$ toolctl get nodes -o yaml":                                        "[nodes] false ",
		"$ kubectl get pods -A -l app=x -o yaml":                             "a part",
		"$ kubectl get pods -A -lapp=x -o yaml":                              "a part",
		"$ kubectl get pods -A --selector=app=x -o yaml":                     "a part",
		"$ kubectl get pods -A --field-selector spec.nodeName=w1 -o yaml":    "a part",
		"$ kubectl get pod web-1 -n shop -o yaml":                            "a part",
		"$ kubectl get pod/web-1 -o yaml":                                    "a part",
		"$ kubectl get pods -A -o yaml | head -500":                          "a part",
		"$ kubectl get pods -A -o yaml | tee x | grep -v secret":             "a part",
		"C:\\>kubectl get pods -A -o yaml":                                   "[pods] true ",
		"$ kubectl get pods -A -o yaml|head -500":                            "a part",
		"$ kubectl get pods -A -o yaml>pods.yaml":                            "a part",
		"$ kubectl get pods -A -o yaml > pods.yaml":                          "a part",
		"$ kubectl get pods -n $NS -o yaml":                                  "a part",
		"$ for n in a b; do kubectl get pods -n $n -o yaml; done":            "a part",
		"$ kubectl get ns -o yaml; kubectl get pods -A -o yaml":              "a part",
		"$ kubectl describe pods -A":                                         "a part",
		"$ kubectl get -f pods.yaml -o yaml":                                 "a part",
		"$ kubectl get --raw /api/v1/namespaces/shop/pods":                   "a part",
		"$ kubectl get pods -A --limit=5 -o yaml":                            "a part",
	} {
		words, _ := (&input{}).command([]byte(line))
		if a := askedBy(words, []string{"toolctl"}); words == nil || said(a) != want {
			t.Errorf("%s: %s, want %s", line, said(a), want)
		}
	}
	for _, line := range []string{"# all pods of the cluster", "$ cat pods.yaml"} {
		if words, _ := (&input{}).command([]byte(line)); words != nil {
			t.Errorf("%s: has no command", line)
		}
	}
}

// The name of a file may spell the command.
func TestAskedByName(t *testing.T) {
	for name, want := range map[string]string{
		"dir/kubectl-get-pods-A.yaml":                     "[pods] true ",
		"kubectl_get_pods_--all-namespaces_-o_yaml.txt":   "[pods] true ",
		"kubectl get nodes,pods -A 2025-10-01.json":       "[nodes pods] true ",
		"kubectl-get-ippools.crd.projectexample.org.yaml": "[ippools.crd.projectexample.org] false ",
		"kubectl-get-pods-A-l-app-x.yaml":                 "a part",
		"kubectl-get-pods-n-shop.yaml":                    "a part",
		"pods-A.yaml":                                     "a part",
		"all-pods.yaml":                                   "a part",
		"kubectl-get.yaml":                                "a part",
	} {
		if a := AskedByName(name, nil); said(a) != want {
			t.Errorf("%s: %s, want %s", name, said(a), want)
		}
	}
}
