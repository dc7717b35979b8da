package controlplane

import (
	"bytes"
	"io"
	"net/http"
	"strings"
)

// withoutEvents answers the creation of an Event as if it were stored, and sends no message:
// no simulated process reads Events.
type withoutEvents struct{ http.RoundTripper }

// RoundTrip sends all other requests.
func (w withoutEvents) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet || !strings.HasSuffix(r.URL.Path, "/events") && !strings.Contains(r.URL.Path, "/events/") {
		return w.RoundTripper.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: "201 Created", StatusCode: http.StatusCreated, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": r.Header["Content-Type"]}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, r.Body.Close()
}
