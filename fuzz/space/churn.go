package space

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/scenarios"
)

// churn draws what deletes pods all the time: none in two worlds of five, else so
// often that a pod name lives up to three times until the script ends.
func (w *world) churn() {
	n := Pick(w.Choices, 0, 1, 0, 1, 1)
	for range n {
		c := scenarios.Churn{
			Every: ms(w.until / time.Duration(max(1, w.pods*w.Between(1, 4)/2))),
			From:  ms(w.soon()),
			Until: ms(w.until),
			Force: Pick(w.Choices, 0, 3, 10),
		}
		if l := Pick(w.Choices, w.loads...); l.kind != "Pod" && !l.late && w.Chance(1, 3) {
			c.Workload = l.ref()
		}
		w.doc.Spec.Churn = append(w.doc.Spec.Churn, c)
	}
}

// ms is a duration in whole milliseconds, at least one: what a person would write.
func ms(d time.Duration) metav1.Duration {
	return metav1.Duration{Duration: max(d.Round(time.Millisecond), time.Millisecond)}
}
