package attach

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Server is the part of a Session outside of the bubble.
type Server struct {
	URL    string // https://127.0.0.1:PORT
	Client Client

	http *http.Server
}

// Stepper advances the run of a Session by some steps and returns one line with its position.
// Its errors are for the user.
type Stepper func(ctx context.Context, steps int) (where string, err error)

// stepPath is the path by which Client advances the run: POST, with the number of steps as n.
const stepPath = "/ipamsim/step"

// StepsMax is more steps than any run has.
const StepsMax = 10_000_000

// Listen serves a cluster on a free port of 127.0.0.1 until Close. Without a Stepper the run
// cannot be advanced.
func Listen(d *Session, step Stepper) (*Server, error) {
	keys, err := newKeys()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "https://" + l.Addr().String()}
	s.Client = Client{URL: s.URL, Authority: keys.authority, Certificate: keys.client, Key: keys.clientKey}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(keys.authority)
	s.http = &http.Server{
		Handler: &gatekeeper{session: d, step: step, front: sync.OnceValue(d.front)}, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{keys.server}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert},
		ErrorLog:  log.New(io.Discard, "", 0), // the client gets its error in the answer
	}
	go func() { _ = s.http.ServeTLS(l, "", "") }()
	return s, nil
}

// Close ends all connections.
func (s *Server) Close() error { return s.http.Close() }

// gatekeeper admits requests that only read.
type gatekeeper struct {
	session *Session
	step    Stepper
	front   func() http.Handler // waits until the run is paused for the first time
}

var paths = &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

func (g *gatekeeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path.Clean(r.URL.Path) == stepPath {
		g.move(w, r)
		return
	}
	info, err := paths.NewRequestInfo(r)
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, readOnly(info))
	case info.IsResourceRequest:
		g.session.serve(w, r)
	default:
		g.front().ServeHTTP(w, r)
	}
}

// readOnly returns the reason why a change is refused.
func readOnly(i *request.RequestInfo) string {
	what := strings.Trim(path.Join(i.Resource, i.Subresource)+" "+strconv.Quote(i.Name), " ")
	if i.Name == "" {
		what = i.Resource
	}
	if what == "" {
		what = i.Path
	}
	return what + ": the cluster of a run is read-only; what operators do stands in the scenario's timeline"
}

// move advances the run.
func (g *gatekeeper) move(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Query().Get("n"))
	switch {
	case r.Method != http.MethodPost:
		refuse(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "want POST")
	case g.step == nil:
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, "the run stays where it is; ipamsim serve --hold lets it go on")
	case err != nil || n < 1 || n > StepsMax:
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "n: want a number of steps, 1 to "+strconv.Itoa(StepsMax))
	default:
		where, err := g.step(r.Context(), n)
		if err != nil {
			refuse(w, http.StatusConflict, metav1.StatusReasonConflict, err.Error())
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte(where + "\n"))
	}
}

// refuse answers with a Status, as an API server does.
func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	})
}

// refused returns the message of a Status.
func refused(body []byte) error {
	s := metav1.Status{}
	if err := json.Unmarshal(body, &s); err != nil || s.Message == "" {
		return errors.New("no answer of ipamsim serve")
	}
	return errors.New(s.Message)
}
