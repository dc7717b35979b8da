package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// server is a kube-apiserver of upstream's with an etcd of its own, on loopback.
type server struct {
	url    string
	client *http.Client
	token  string

	certificate string // file; signed by itself

	etcd *clientv3.Client
	own  map[string]string // keys and values in etcd before the first run

	*process
}

// admission are the plugins that the simulator has for Kubernetes' own controllers.
var admission = []string{"NamespaceLifecycle", "LimitRanger", "TaintNodesByCondition", "Priority", "DefaultTolerationSeconds", "ResourceQuota"}

// admissionOff are the others that are on by default.
var admissionOff = []string{
	"CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction", "ClusterTrustBundleAttest", "DefaultIngressClass", "DefaultStorageClass",
	"MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "PersistentVolumeClaimResize", "PodSecurity",
	"PodTopologyLabels", "RuntimeClass", "ServiceAccount", "StorageObjectInUseProtection", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
}

// setup is how a server is started.
type setup struct {
	controlled bool           // with the admission that Kubernetes' own controllers count on
	ranges     []netip.Prefix // of Services, one of each family
	// through is where kube-apiserver is told that its etcd is, of which it is given the URL;
	// nil: there.
	through func(ctx context.Context, etcd string) (string, error)
}

// startServer starts one with nothing stored in it, in a folder of its own.
func startServer(ctx context.Context, binary, dir string, o setup) (*server, error) {
	off := admissionOff
	if !o.controlled {
		off = slices.Concat(off, admission)
	}
	ports, err := freePorts()
	if err != nil {
		return nil, err
	}
	s := &server{url: "https://127.0.0.1:" + strconv.Itoa(ports[0]), certificate: filepath.Join(dir, "apiserver.crt")}
	secret := make([]byte, 16)
	_, _ = rand.Read(secret)
	s.token = hex.EncodeToString(secret)
	key, err := writeKey(filepath.Join(dir, "sa.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "tokens.csv"), []byte(s.token+",oracle,oracle,system:masters\n"), 0o600)
	}
	if err != nil {
		return nil, err
	}
	etcd := "http://127.0.0.1:" + strconv.Itoa(ports[1])
	if s.etcd, err = clientv3.New(clientv3.Config{Endpoints: []string{etcd}, Logger: zap.NewNop()}); err != nil {
		return nil, err
	}
	asked := etcd
	if o.through != nil {
		if asked, err = o.through(ctx, etcd); err != nil {
			return nil, err
		}
	}
	// Its clients are called by its name, and what they write is recognized by it.
	s.process, err = start(ctx, "kube-apiserver", binary, dir, []string{"ETCD_DIR=" + filepath.Join(dir, "etcd"), "ETCD_CLIENT=" + etcd, "ETCD_PEER=http://127.0.0.1:" + strconv.Itoa(ports[2])},
		"--etcd-servers="+asked, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port="+strconv.Itoa(ports[0]),
		"--endpoint-reconciler-type=none", "--service-cluster-ip-range="+o.ranges[0].String()+","+o.ranges[1].String(), "--service-account-issuer=https://oracle", "--service-account-key-file="+key,
		"--service-account-signing-key-file="+key, "--token-auth-file="+filepath.Join(dir, "tokens.csv"), "--cert-dir="+dir, "--authorization-mode=AlwaysAllow",
		"--disable-admission-plugins="+strings.Join(off, ","), "--watch-cache=false", "--etcd-compaction-interval=0", "--enable-priority-and-fairness=false", "--v=0")
	if err != nil {
		return nil, err
	}
	return s, s.ready(ctx)
}

// freePorts are three that nobody listens at.
func freePorts() (ports [3]int, err error) {
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return ports, err
		}
		defer l.Close() // none before the last: it could be drawn again
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// writeKey makes a key to sign tokens with that nobody asks for.
func writeKey(file string) (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", err
	}
	return file, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}

// readyMax is how long a start may take on a busy machine.
const readyMax = 3 * time.Minute

// ready waits until it serves. It signs its own certificate, which is all that is trusted.
func (s *server) ready(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < readyMax; time.Sleep(100 * time.Millisecond) {
		select {
		case <-s.done:
			return fmt.Errorf("kube-apiserver has ended: %s", s.said())
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
		pem, err := os.ReadFile(s.certificate)
		if err != nil {
			continue
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}}}
		if resp, _, err := s.send(ctx, http.MethodGet, "/readyz", "", "", nil); err == nil && resp.StatusCode == http.StatusOK {
			return nil
		}
	}
	return errors.New("kube-apiserver is not ready")
}

func (s *server) stop() {
	_ = s.etcd.Close()
	s.process.stop()
}
