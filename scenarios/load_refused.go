package scenarios

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Refused says, in terms of the file, that the API server of a run would not
// store one of its manifests: a selector that does not match its template, say.
// It is the user's mistake like any other that Load finds.
func (s *Scenario) Refused(kind, namespace, name string, err error) *Error {
	id := identity{kind, namespace, name}
	d := s.docs[id]
	if d == nil {
		return &Error{File: s.File, Object: id.String(), Problem: "the API server refuses it: " + oneLine(err)}
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0 {
		return d.fail(d.root, nil, "the API server refuses it: %s", oneLine(err))
	}
	cause := status.ErrStatus.Details.Causes[0]
	return d.failAt(parsePath(cause.Field), "the API server refuses it: %s", oneLine(errors.New(cause.Message)))
}
