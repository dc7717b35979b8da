package nodeipam

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	nodeutil "k8s.io/component-helpers/node/util"
)

// updateCIDRsAllocation keeps a podCIDR reserved if the server did not answer in time: the
// PATCH may have been carried out. It never does: PatchNodeCIDRs tells of an error by its
// text, in which IsServerTimeout does not see what it was.
func TestPatchHidesTheServersTimeout(t *testing.T) {
	timeout := errors.NewServerTimeout(schema.GroupResource{Resource: "nodes"}, "patch", 0)
	if !errors.IsServerTimeout(timeout) {
		t.Fatalf("%v is no timeout of the server", timeout)
	}
	body, err := json.Marshal(timeout.ErrStatus)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://server", Transport: answers(body)})
	if err != nil {
		t.Fatal(err)
	}
	err = nodeutil.PatchNodeCIDRs(t.Context(), client, "n0", []string{"10.244.0.0/24"})
	if err == nil || errors.IsServerTimeout(err) {
		t.Errorf("%v: mended: tell it in reports/README.md", err)
	}
}

// answers is a server that answers every request with a status.
type answers []byte

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusInternalServerError, Request: r, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(a))),
	}, nil
}
