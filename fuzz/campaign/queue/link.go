package queue

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// payloadMax is the limit of a message: far more than a finding with its file.
const payloadMax = 8 << 20

// Serve starts an embedded NATS server that only processes of this user on this machine can use:
// on a port that the system chooses, with generated credentials. It stores its streams in dir.
// The address is a secret. stop ends the server and waits for it.
func Serve(dir string) (stop func(), address string, err error) {
	var secret [24]byte
	_, _ = rand.Read(secret[:]) // never fails
	user := url.UserPassword("campaign", hex.EncodeToString(secret[:]))
	password, _ := user.Password()
	srv, err := server.NewServer(&server.Options{
		ServerName: "ipamsim", Host: "127.0.0.1", Port: server.RANDOM_PORT,
		Username: user.Username(), Password: password,
		JetStream: true, StoreDir: dir, DisableJetStreamBanner: true,
		SyncInterval: 5 * time.Second, // a crash of a process loses nothing, only a power failure does
		MaxPayload:   payloadMax, NoLog: true, NoSigs: true,
	})
	if err != nil {
		return nil, "", fmt.Errorf("campaign: NATS server: %w", err)
	}
	srv.Start()
	if !srv.ReadyForConnections(30 * time.Second) {
		srv.Shutdown()
		return nil, "", errors.New("campaign: NATS server: not ready after 30 s")
	}
	return func() { srv.Shutdown(); srv.WaitForShutdown() }, (&url.URL{Scheme: "nats", User: user, Host: srv.Addr().String()}).String(), nil
}

// Link is how to reach a NATS server. A worker receives it in environment variables, because
// every user of the machine can read its arguments.
type Link struct {
	URL   string
	Creds string // a file; "" for none
	// build of a worker that the coordinator started: the coordinator's own build, so that the
	// worker need not compute it from its binary.
	Build string
}

const (
	// SecretEnv is the prefix of variables that a run must not see.
	SecretEnv = "IPAMSIM_NATS_"
	urlEnv    = SecretEnv + "URL"
	credsEnv  = SecretEnv + "CREDS"
	buildEnv  = SecretEnv + "BUILD"
)

// Environment returns the environment for a worker, with the link in it.
func (l Link) Environment() []string {
	return append(os.Environ(), urlEnv+"="+l.URL, credsEnv+"="+l.Creds, buildEnv+"="+l.Build)
}

// LinkFromEnvironment returns the link that a coordinator passed to its worker; ok is false if
// there is none.
func LinkFromEnvironment() (l Link, ok bool) {
	l.URL, ok = os.LookupEnv(urlEnv)
	l.Creds, l.Build = os.Getenv(credsEnv), os.Getenv(buildEnv)
	return l, ok
}

// Check reports what is wrong with a link, without connecting.
func (l Link) Check() error {
	u, err := url.Parse(l.URL)
	switch {
	case err != nil || u.Host == "":
		return errors.New("--nats: want nats://HOST:PORT or tls://HOST:PORT")
	case u.Scheme != "nats" && u.Scheme != "tls":
		return fmt.Errorf("--nats: unknown scheme %q, want nats or tls", u.Scheme)
	}
	if l.Creds != "" {
		f, err := os.Open(l.Creds)
		if err != nil {
			return fmt.Errorf("--nats-creds: %w", err)
		}
		return f.Close()
	}
	return nil
}

// Dial connects, and reconnects whenever the connection is lost. Connections to other machines
// require TLS.
func (l Link) Dial(name string) (*nats.Conn, error) {
	u, err := url.Parse(l.URL)
	if err != nil {
		return nil, errors.New("campaign: NATS: no such URL")
	}
	o := []nats.Option{nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.Timeout(10 * time.Second)}
	if l.Creds != "" {
		o = append(o, nats.UserCredentials(l.Creds))
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		o = append(o, nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	c, err := nats.Connect(l.URL, o...)
	if err != nil {
		return nil, fmt.Errorf("campaign: NATS at %s: %w", u.Host, err)
	}
	return c, nil
}
