package show

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"ipamsim/cmd/oracle/upstream"
)

// between stands between a controller and kube-apiserver, as the network does: it passes
// requests and answers on, and can lose an answer, keep a request, or part with watches. It
// has no credentials of its own.
type between struct {
	url         string
	certificate []byte // signed by itself
	pass        http.Handler

	mu      sync.Mutex
	once    []*meeting
	watches map[*http.Request]context.CancelFunc
	parted  map[string]chan struct{} // by path: closed when there are watches of it again
}

// meeting is what happens to the next request of a method for a path.
type meeting struct {
	method, path string
	fate         func(pass http.Handler, w http.ResponseWriter, r *http.Request)
	met          chan struct{} // closed when it has come
}

// stand has one listen at a port of loopback, until ctx ends.
func stand(ctx context.Context, s *upstream.Server) (*between, error) {
	to, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	pass := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport:     s.Client.Transport,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	b := &between{pass: pass, watches: map[*http.Request]context.CancelFunc{}, parted: map[string]chan struct{}{}}
	h := httptest.NewUnstartedServer(b)
	h.Config.ErrorLog = pass.ErrorLog
	h.StartTLS() // client-go sends no token where there is none
	context.AfterFunc(ctx, func() { _ = h.Config.Close() })
	b.url, b.certificate = h.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	return b, nil
}

// ServeHTTP is one request. An http.ErrAbortHandler ends the connection without an answer.
func (b *between) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") != "" {
		b.watch(w, r)
		return
	}
	b.mu.Lock()
	i := slices.IndexFunc(b.once, func(m *meeting) bool { return m.method == r.Method && m.path == r.URL.Path })
	var m *meeting
	if i >= 0 {
		m = b.once[i]
		b.once = slices.Delete(b.once, i, i+1)
	}
	b.mu.Unlock()
	if m == nil {
		b.pass.ServeHTTP(w, r)
		return
	}
	close(m.met)
	m.fate(b.pass, w, r)
}

func (b *between) watch(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	again := b.parted[r.URL.Path]
	b.mu.Unlock()
	if again != nil {
		select {
		case <-again:
		case <-r.Context().Done():
			return
		}
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	b.mu.Lock()
	b.watches[r] = cancel
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		delete(b.watches, r)
		b.mu.Unlock()
	}()
	b.pass.ServeHTTP(w, r.WithContext(ctx))
}

// partition ends the watches of a path. There are none of it until heal is called.
func (b *between) partition(path string) (heal func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	again := make(chan struct{})
	b.parted[path] = again
	for r, end := range b.watches {
		if r.URL.Path == path {
			end()
		}
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.parted, path)
		close(again)
	}
}

// lose has the next such request done and its answer lost. met is closed when it has come.
func (b *between) lose(method, path string) (met <-chan struct{}) {
	return b.meet(method, path, func(pass http.Handler, _ http.ResponseWriter, r *http.Request) {
		pass.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
}

// keep has the next such request wait. It is passed on then, whether or not its sender
// still waits, or lost.
func (b *between) keep(method, path string) (met <-chan struct{}, end func(lose bool)) {
	fate := make(chan bool, 1)
	return b.meet(method, path, func(pass http.Handler, w http.ResponseWriter, r *http.Request) {
		if <-fate {
			panic(http.ErrAbortHandler)
		}
		pass.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
	}), func(lose bool) { fate <- lose }
}

func (b *between) meet(method, path string, fate func(http.Handler, http.ResponseWriter, *http.Request)) <-chan struct{} {
	m := &meeting{method, path, fate, make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.once = append(b.once, m)
	return m.met
}

// kubeconfig writes one into dir, for a client of s that asks here.
func (b *between) kubeconfig(s *upstream.Server, dir string) (file string, err error) {
	file, certificate := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "between.crt")
	return file, errors.Join(os.WriteFile(certificate, b.certificate, 0o600), os.WriteFile(file, s.Kubeconfig(b.url, certificate), 0o600))
}
