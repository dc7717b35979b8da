package cloud

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"ipamsim/sim"
)

// Wire is a provider's protocol over HTTP. Its zero value is plain JSON: POST
// /OPERATION, input and output as bodies, a refusal as {"code": …, "message": …}.
type Wire struct {
	// Decode returns operation and input of a request.
	Decode func(*http.Request) (operation string, input json.RawMessage, err error)
	// Encode returns the answer; with a refusal output is nil.
	Encode func(operation string, output json.RawMessage, refusal *Error) (status int, header http.Header, body []byte)
}

// Transport returns a process's HTTP transport to the provider, through its gate.
func (c *Cloud) Transport(g *sim.Gate, w Wire) http.RoundTripper {
	if w.Decode == nil {
		w.Decode = decode
	}
	if w.Encode == nil {
		w.Encode = encode
	}
	return &transport{c, g, w}
}

type transport struct {
	cloud *Cloud
	gate  *sim.Gate
	wire  Wire
}

// RoundTrip makes one call. Its error is ErrLost or that of the gate.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	operation, in, err := t.wire.Decode(r)
	if err != nil {
		return nil, err
	}
	x, err := t.cloud.send(r.Context(), t.gate, operation, in)
	if err != nil {
		return nil, err
	}
	status, header, body := t.wire.Encode(operation, x.Output, x.Err)
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}

// bodyMax exceeds every call of an address manager.
const bodyMax = 1 << 20

func decode(r *http.Request) (string, json.RawMessage, error) {
	operation := strings.Trim(r.URL.Path, "/")
	if r.Body == nil {
		return operation, nil, nil
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, bodyMax))
	if err == nil {
		err = r.Body.Close()
	}
	return operation, b, err
}

func encode(_ string, output json.RawMessage, refusal *Error) (int, http.Header, []byte) {
	h := http.Header{"Content-Type": {"application/json"}}
	if refusal == nil {
		return http.StatusOK, h, output
	}
	b, err := json.Marshal(map[string]string{"code": refusal.Code, "message": refusal.Message})
	if err != nil {
		panic(err) // two strings
	}
	return refusal.Status, h, b
}
