package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// refusal is the server's answer where it does not give what it was asked for.
type refusal struct {
	Code     int    `json:"code"`
	Message  string `json:"message"`
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
}

func (r *refusal) Error() string {
	return strings.Join(strings.Fields(cmp.Or(r.Message, http.StatusText(r.Code))), " ")
}

// tries is how often a request is sent that the server had no time for; between
// two of them it is left alone for a Unit more each time.
const tries = 5

// Unit is shorter in tests.
var Unit = time.Second

// get sends one GET request. The error is a *refusal where the server answered and
// going on without this list makes sense.
func (r *reading) get(ctx context.Context, path string, q url.Values) (io.ReadCloser, error) {
	u := *r.host
	u.Path, u.RawQuery = strings.TrimSuffix(u.Path, "/")+path, q.Encode()
	for try := 1; ; try++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Accept", "application/json")
		resp, err := r.client.Do(req)
		if err != nil {
			return nil, r.unreachable(ctx, err)
		}
		if resp.StatusCode == http.StatusOK {
			return resp.Body, nil
		}
		no := refused(resp)
		switch no.Code {
		case http.StatusUnauthorized:
			return nil, fmt.Errorf("%s: the credentials of the kubeconfig are not accepted", r.host.Host)
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			if try < tries {
				if err := pause(ctx, time.Duration(try)*Unit); err != nil {
					return nil, err
				}
				continue
			}
		}
		if path == "/apis" {
			return nil, fmt.Errorf("%s: %w", r.host.Host, no)
		}
		return nil, no
	}
}

// refused reads an answer that is no list.
func refused(resp *http.Response) *refusal {
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	r := &refusal{}
	_ = json.Unmarshal(body, r) // else the code says it all
	r.Code = resp.StatusCode
	if len(r.Message) > 300 {
		r.Message = r.Message[:300] + "…"
	}
	return r
}

// unreachable is why a request got no answer, without the URL in front.
func (r *reading) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var u *url.Error
	if errors.As(err, &u) {
		if u.Timeout() {
			return fmt.Errorf("%s did not answer within %s", r.host.Host, patience)
		}
		err = u.Err
	}
	return fmt.Errorf("%s: %w", r.host.Host, err)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
