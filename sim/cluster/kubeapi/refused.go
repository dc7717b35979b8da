package kubeapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Done is the error of an action that had an effect, as a command that prints its findings.
type Done struct{ Err error }

func (d *Done) Error() string { return d.Err.Error() }

// Unwrap is the error itself.
func (d *Done) Unwrap() error { return d.Err }

// Refused reports whether an error says that nothing was done. One that is the server's own,
// or of the way to it, leaves that open.
func Refused(err error) bool {
	status := apierrors.APIStatus(nil)
	switch {
	case errors.As(err, new(*Done)), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, new(*url.Error)):
		return false
	case errors.As(err, &status):
		return status.Status().Code < http.StatusInternalServerError && !apierrors.IsTooManyRequests(err)
	}
	return true
}
