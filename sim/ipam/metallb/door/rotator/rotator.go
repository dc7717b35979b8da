// Package rotator has no certificates: nobody calls a webhook (--webhook-mode=disabled).
package rotator

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Validating and CRDConversion are kinds of webhooks.
const (
	Validating = iota
	CRDConversion
)

// WebhookInfo is one webhook.
type WebhookInfo struct {
	Name string
	Type int
}

// CertRotator is what upstream asks for.
type CertRotator struct {
	SecretKey                                            types.NamespacedName
	CertDir, CAName, CAOrganization, DNSName, FieldOwner string
	IsReady                                              chan struct{}
	Webhooks                                             []WebhookInfo
}

// AddRotator says that there is none.
func AddRotator(manager.Manager, *CertRotator) error {
	return errors.New("no certificates are rotated: --webhook-mode=disabled")
}
