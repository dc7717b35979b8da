package space

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/scenarios"
)

// Churn draws what deletes pods all the time: none in two worlds of five, else so
// often that a pod name lives up to three times until the script ends.
func (w *World) Churn() {
	n := Pick(w.Choices, 0, 1, 0, 1, 1)
	for range n {
		c := scenarios.Churn{
			Every: Millis(w.Until / time.Duration(max(1, w.pods*w.Between(1, 4)/2))),
			From:  Millis(w.soon()),
			Until: Millis(w.Until),
			Force: Pick(w.Choices, 0, 3, 10),
		}
		if l := Pick(w.Choices, w.loads...); l.kind != "Pod" && !l.late && w.Chance(1, 3) {
			c.Workload = l.ref()
		}
		w.Doc.Spec.Churn = append(w.Doc.Spec.Churn, c)
	}
}

// Millis is a duration in whole milliseconds, at least one: what a person would write.
func Millis(d time.Duration) metav1.Duration {
	return metav1.Duration{Duration: max(d.Round(time.Millisecond), time.Millisecond)}
}
