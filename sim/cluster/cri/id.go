package cri

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// NewID is what a runtime would draw at random for a pod's n-th sandbox: 64 hexadecimal digits.
func NewID(p *corev1.Pod, node string, n int) string {
	h := sha256.Sum256([]byte(fmt.Sprintf("%s %s %s %s %d", p.Namespace, p.Name, p.UID, node, n)))
	return hex.EncodeToString(h[:])
}
