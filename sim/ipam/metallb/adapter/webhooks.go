package adapter

import (
	"crypto/tls"
	"errors"
	"net/http"

	"github.com/go-kit/log"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// There are no webhooks, and no certificates and no servers for them: no API server calls
// one (--webhook-mode=disabled).

// Variables that upstream would set, in webhookv1beta1 and in webhookv1beta2.
var (
	MetalLBNamespace string
	Logger           log.Logger
	WebhookClient    client.Reader
	Validator        any
)

type webhook struct{}

// SetupWebhookWithManager returns an error: no webhooks are served.
func (*webhook) SetupWebhookWithManager(manager.Manager) error {
	return errors.New("no webhooks are served: --webhook-mode=disabled")
}

// The validators of upstream. BGPPeerValidator is in webhookv1beta2, the others in webhookv1beta1.
type (
	IPAddressPoolValidator    struct{ webhook }
	BGPAdvertisementValidator struct{ webhook }
	L2AdvertisementValidator  struct{ webhook }
	CommunityValidator        struct{ webhook }
	BFDProfileValidator       struct{ webhook }
	BGPPeerValidator          struct{ webhook }
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

// CertRotator has the fields that upstream sets.
type CertRotator struct {
	SecretKey                                            types.NamespacedName
	CertDir, CAName, CAOrganization, DNSName, FieldOwner string
	IsReady                                              chan struct{}
	Webhooks                                             []WebhookInfo
}

// AddRotator returns an error: no certificates are rotated.
func AddRotator(manager.Manager, *CertRotator) error {
	return errors.New("no certificates are rotated: --webhook-mode=disabled")
}

// OptFor changes nothing about how servers encrypt.
func OptFor(_, _, _ string) (func(*tls.Config), error) { return func(*tls.Config) {}, nil }

// NewRegistry has no conversions.
func NewRegistry() any { return nil }

// NewWebhookHandler converts nothing. Its arguments differ between releases of
// controller-runtime.
func NewWebhookHandler(...any) http.Handler { return http.NotFoundHandler() }
