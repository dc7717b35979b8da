package dump_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios/dump"
)

// manyPods is a list of n pods as kubectl prints them, 2.4 KB each.
func manyPods(n int) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nitems:\n")
	fields := strings.Repeat("    - apiVersion: v1\n      fieldsType: FieldsV1\n      fieldsV1:\n        f:metadata:\n          f:labels:\n            .: {}\n            f:app: {}\n      manager: kube-controller-manager\n", 3)
	containers := strings.Repeat("    - image: registry.example/app:1\n      env:\n      - name: A\n        value: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n      name: c\n      resources:\n        limits:\n          cpu: 100m\n          memory: 128Mi\n      volumeMounts:\n      - mountPath: /var/run/secrets/kubernetes.io/serviceaccount\n        name: kube-api-access\n        readOnly: true\n", 3)
	for i := range n {
		ip := fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)
		fmt.Fprintf(&b, "- apiVersion: v1\n  kind: Pod\n  metadata:\n    annotations:\n      cni.projectcalico.org/containerID: c%063x\n      cni.projectcalico.org/podIP: %s/32\n    labels:\n      app: web\n    managedFields:\n%s    name: web-%d\n    namespace: ns%d\n    resourceVersion: %q\n  spec:\n    containers:\n%s    nodeName: n%d\n    restartPolicy: Always\n  status:\n    phase: Running\n    podIP: %s\n    podIPs:\n    - ip: %s\n", i, ip, fields, i, i%50, fmt.Sprint(i+1000), containers, i%200, ip, ip)
	}
	b.WriteString("kind: List\nmetadata:\n  resourceVersion: \"\"\n")
	return b.String()
}

// BenchmarkRead reads a dump of 20,000 pods.
func BenchmarkRead(b *testing.B) {
	text := manyPods(20_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		start, first := time.Now(), time.Duration(0)
		c := dump.New(managers.All())
		err := c.Read("large", strings.NewReader(text), func(dump.Progress) {
			if first == 0 {
				first = time.Since(start)
			}
		})
		if err != nil || len(c.Pods) != 20_000 {
			b.Fatal(err, len(c.Pods))
		}
		b.ReportMetric(float64(first.Milliseconds()), "ms-to-progress")
	}
}
