// Package kubeapi is the connection of the cluster's own processes to the API server: requests,
// informers, a cache of pods and nodes, and the paths of kinds.
package kubeapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"ipamsim/sim/kube"
)

// Client sends requests. A clientset would cost more to build than most of these
// processes live.
type Client struct{ rt http.RoundTripper }

// New returns a client with a transport of the API server: kube.Server's Transport or Direct.
func New(rt http.RoundTripper) Client { return Client{rt} }

// The content types of patches.
const (
	MergePatch     = "application/merge-patch+json"
	StrategicPatch = "application/strategic-merge-patch+json"
	JSONPatch      = "application/json-patch+json"
	ApplyPatch     = "application/apply-patch+yaml" // server-side apply; JSON is YAML
)

// Create stores a manifest.
func (cl Client) Create(ctx context.Context, r Resource, namespace string, body []byte) error {
	_, err := cl.Do(ctx, http.MethodPost, r.Path(namespace, ""), "application/json", body)
	return err
}

// Patch sends a patch: bytes (json.RawMessage), or a value to encode as JSON.
func (cl Client) Patch(ctx context.Context, path, contentType string, patch any) error {
	body, ok := patch.(json.RawMessage)
	if !ok {
		var err error
		if body, err = json.Marshal(patch); err != nil {
			return err
		}
	}
	_, err := cl.Do(ctx, http.MethodPatch, path, contentType, body)
	return err
}

// Delete deletes one object.
func (cl Client) Delete(ctx context.Context, path string, o metav1.DeleteOptions) error {
	o.Kind, o.APIVersion = "DeleteOptions", "v1"
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = cl.Do(ctx, http.MethodDelete, path, "application/json", body)
	return err
}

// DeletePod runs kubectl delete pod; force deletes the object immediately, so that the kubelet
// learns of it afterwards.
func (cl Client) DeletePod(ctx context.Context, namespace, name string, force bool) error {
	return cl.Delete(ctx, Pods.Path(namespace, name), Deletion(force))
}

// Deletion is how kubectl deletes; force is --grace-period=0 --force.
func Deletion(force bool) metav1.DeleteOptions {
	if force {
		return *metav1.NewDeleteOptions(0)
	}
	return metav1.DeleteOptions{}
}

// accepted is the Accept header of a request. The answer to a write is not read, and protobuf
// is cheapest for Kubernetes' own resources.
func accepted(method, path string) string {
	if method != http.MethodGet {
		for _, root := range []string{"/api/", "/apis/apps/", "/apis/batch/"} {
			if strings.HasPrefix(path, root) {
				return runtime.ContentTypeProtobuf
			}
		}
	}
	return runtime.ContentTypeJSON
}

// Do returns the answer's body, or the server's own error as *apierrors.StatusError.
func (cl Client) Do(ctx context.Context, method, path, contentType string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://sim"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Accept", accepted(method, path))
	resp, err := cl.rt.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 300 {
		return b, nil
	}
	st := metav1.Status{}
	if json.Unmarshal(kube.JSON(b), &st) != nil || st.Message == "" {
		return nil, fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return nil, &apierrors.StatusError{ErrStatus: st}
}
