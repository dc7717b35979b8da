// Package webhookv1beta2 has no webhooks: no API server calls one (--webhook-mode=disabled).
package webhookv1beta2

import (
	"errors"

	"github.com/go-kit/log"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// What upstream would set.
var (
	MetalLBNamespace string
	Logger           log.Logger
	WebhookClient    client.Reader
	Validator        any
)

type webhook struct{}

// SetupWebhookWithManager says that there is none.
func (*webhook) SetupWebhookWithManager(manager.Manager) error {
	return errors.New("no webhooks are served: --webhook-mode=disabled")
}

// BGPPeerValidator is upstream's.
type BGPPeerValidator struct{ webhook }
