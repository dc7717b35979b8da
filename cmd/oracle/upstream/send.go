package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Send is one request with its whole answer.
func (s *Server) Send(ctx context.Context, method, uri, contentType, accept string, body []byte) (*http.Response, []byte, error) {
	resp, err := s.Open(ctx, method, uri, contentType, accept, body)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, b, err
}

// Open is one request whose answer is still to be read.
func (s *Server) Open(ctx context.Context, method, uri, contentType, accept string, body []byte) (*http.Response, error) {
	return s.As(ctx, "oracle", method, uri, contentType, accept, body)
}

// As is open for a client of another name, who is the manager of fields that it writes.
func (s *Server) As(ctx context.Context, client, method, uri, contentType, accept string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.URL+uri, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("User-Agent", client)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	return s.Client.Do(req)
}

// Define stores the definitions of custom resources and waits until each is served.
func (s *Server) Define(ctx context.Context, crds []*apiextv1.CustomResourceDefinition) error {
	for _, c := range crds {
		c = c.DeepCopy()
		c.APIVersion, c.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
		c.Status = apiextv1.CustomResourceDefinitionStatus{}
		b, err := json.Marshal(c)
		if err != nil {
			return err
		}
		resp, answer, err := s.Send(ctx, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json", "application/json", b)
		if err != nil {
			return err
		}
		if resp.StatusCode != http.StatusCreated {
			return fmt.Errorf("definition %s: %s: %s", c.Name, resp.Status, answer)
		}
	}
	for _, c := range crds {
		for _, v := range c.Spec.Versions {
			if !v.Served {
				continue
			}
			uri := strings.Join([]string{"/apis", c.Spec.Group, v.Name, c.Spec.Names.Plural}, "/")
			if err := s.Until(ctx, uri); err != nil {
				return err
			}
		}
	}
	return nil
}

// Until waits until there is something at a path.
func (s *Server) Until(ctx context.Context, uri string) error {
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		resp, answer, err := s.Send(ctx, http.MethodGet, uri, "", "application/json", nil)
		if err != nil {
			return err
		}
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		if time.Since(began) > readyMax {
			return fmt.Errorf("%s is not served: %s: %s", uri, resp.Status, answer)
		}
	}
}
