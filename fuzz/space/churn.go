package space

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/scenarios"
)

// Churn draws the continuous deletion of pods: none in two of five worlds, otherwise so often that up to
// three pods have the same name before the script ends.
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

// Millis rounds a duration to milliseconds, at least one, as a user would write it.
func Millis(d time.Duration) metav1.Duration {
	return metav1.Duration{Duration: max(d.Round(time.Millisecond), time.Millisecond)}
}
