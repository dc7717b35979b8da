package campaign

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/campaign/worker"
	"ipamsim/sim/scratch"
)

// TestOtherMachines: a coordinator without workers, and a worker that joins over the user's NATS
// server with TLS and credentials.
func TestOtherMachines(t *testing.T) {
	srv, creds := secureNATS(t)
	l := queue.Link{URL: "tls://" + srv.Addr().String(), Creds: creds}
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	if _, err := (queue.Link{URL: l.URL}).Dial("stranger"); err == nil {
		t.Error("a stranger without credentials got in")
	}
	if _, err := (queue.Link{URL: l.URL, Creds: creds, Build: "another"}).Dial("worker"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	lines := make(chan string, 100)
	done := make(chan error, 1)
	go func() {
		done <- worker.Worker{Managers: managers.All(), Link: l, Parallel: 2, Say: func(s string) { lines <- s }}.Run(ctx)
	}()
	cfg := Config{Spec: flakySpec("duplicate-address"), Runs: 12, Link: &l, Dir: t.TempDir()}
	o, err := Run(t.Context(), cfg)
	if err != nil || o.Runs != 12 || len(o.Rows) == 0 || o.Blind() {
		t.Errorf("%v: %+v", err, o)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	close(lines)
	var all strings.Builder
	for s := range lines {
		all.WriteString(s + "\n")
	}
	if !strings.Contains(all.String(), "working on flaky.yaml") {
		t.Errorf("the worker said %q", &all)
	}
	left, err := filepath.Glob("/dev/shm/ipamsim-workers-*")
	for _, d := range left {
		if lock, err := scratch.Lock(filepath.Join(d, "lock")); err == nil {
			_ = lock.Close()
			t.Errorf("%s is nobody's", d)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// TestAnotherBuild: a worker of another build reports that and exits.
func TestAnotherBuild(t *testing.T) {
	stop, address, err := queue.Serve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	b, err := queue.Reach(t.Context(), queue.Link{URL: address}, "coordinator")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.ID = "c0ffee"
	if err := b.Announce(t.Context(), queue.Entry{Build: "012345678901", Name: "whereabouts"}); err != nil {
		t.Fatal(err)
	}
	err = worker.Worker{Managers: managers.All(), Link: queue.Link{URL: address}, Parallel: 1}.Run(t.Context())
	if !errors.Is(err, queue.ErrBuild) || !strings.Contains(err.Error(), "whereabouts (campaign c0ffee) needs build 012345678901") {
		t.Errorf("%v", err)
	}
}

// secureNATS starts a server as an organisation runs it: with TLS by a private authority, accounts
// with keys, and JetStream.
func secureNATS(t *testing.T) (*server.Server, string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "nats"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(err)
	ca := filepath.Join(dir, "ca.pem")
	must(os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	t.Setenv("SSL_CERT_FILE", ca) // an administrator would install the certificate

	operator, err := nkeys.CreateOperator()
	must(err)
	operatorID, err := operator.PublicKey()
	must(err)
	account, err := nkeys.CreateAccount()
	must(err)
	accountID, err := account.PublicKey()
	must(err)
	user, err := nkeys.CreateUser()
	must(err)
	userID, err := user.PublicKey()
	must(err)
	ac := jwt.NewAccountClaims(accountID)
	ac.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: -1, MemoryStorage: -1, Streams: -1, Consumer: -1}
	accountJWT, err := ac.Encode(operator)
	must(err)
	userJWT, err := jwt.NewUserClaims(userID).Encode(account)
	must(err)
	seed, err := user.Seed()
	must(err)
	text, err := jwt.FormatUserConfig(userJWT, seed)
	must(err)
	creds := filepath.Join(dir, "user.creds")
	must(os.WriteFile(creds, text, 0o600))

	oc := jwt.NewOperatorClaims(operatorID)
	resolver := &server.MemAccResolver{}
	must(resolver.Store(accountID, accountJWT))
	system, err := nkeys.CreateAccount()
	must(err)
	systemID, err := system.PublicKey()
	must(err)
	systemJWT, err := jwt.NewAccountClaims(systemID).Encode(operator)
	must(err)
	must(resolver.Store(systemID, systemJWT))
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: filepath.Join(dir, "store"),
		TLS: true, TLSTimeout: 5, TLSConfig: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
		TrustedOperators: []*jwt.OperatorClaims{oc}, AccountResolver: resolver, SystemAccount: systemID, DisableJetStreamBanner: true,
	})
	must(err)
	srv.Start()
	if !srv.ReadyForConnections(10 * time.Second) {
		t.Fatal("not ready")
	}
	t.Cleanup(srv.Shutdown)
	return srv, creds
}
