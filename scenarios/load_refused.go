package scenarios

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"ipamsim/scenarios/strict"
	"ipamsim/sim/ipam"
)

// Refused says, in terms of the file, that the API server of a run would not
// store one of its manifests: a selector that does not match its template, say.
// It is the user's mistake like any other that Load finds.
func (s *Scenario) Refused(kind, namespace, name string, err error) *strict.Error {
	id := identity{kind, namespace, name}
	d := s.docs[id]
	if d == nil {
		return &strict.Error{File: s.File, Object: id.String(), Problem: "the API server rejects it: " + strict.OneLine(err)}
	}
	var bad *ipam.ObjectError
	if errors.As(err, &bad) && bad.Field != "" {
		return d.FailAt(strict.ParsePath(bad.Field), "the API server rejects it: %s", strict.OneLine(bad.Err))
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0 {
		return d.Fail(d.Root, nil, "the API server rejects it: %s", strict.OneLine(err))
	}
	cause := status.ErrStatus.Details.Causes[0]
	return d.FailAt(strict.ParsePath(cause.Field), "the API server rejects it: %s", strict.OneLine(errors.New(cause.Message)))
}
