// Package upstream runs upstream's own programs: it builds them from the module proxy, starts
// them on loopback, and speaks to a kube-apiserver.
package upstream

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

// Server is a kube-apiserver of upstream's with an etcd of its own, on loopback.
type Server struct {
	URL    string
	Client *http.Client
	token  string

	Certificate string // file; signed by itself

	Etcd *clientv3.Client

	*Process
}

// Admission are the plugins that the simulator has for Kubernetes' own controllers.
var Admission = []string{"NamespaceLifecycle", "LimitRanger", "TaintNodesByCondition", "Priority", "DefaultTolerationSeconds", "ResourceQuota"}

// admissionOff are the others that are on by default.
var admissionOff = []string{
	"CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction", "ClusterTrustBundleAttest", "DefaultIngressClass", "DefaultStorageClass",
	"MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "PersistentVolumeClaimResize", "PodSecurity",
	"PodTopologyLabels", "RuntimeClass", "ServiceAccount", "StorageObjectInUseProtection", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
}

// Setup is how a server is started.
type Setup struct {
	Controlled bool           // with the admission that Kubernetes' own controllers count on
	Ranges     []netip.Prefix // of Services, one of each family
	// Through is where kube-apiserver is told that its etcd is, of which it is given the URL;
	// nil: there.
	Through func(ctx context.Context, etcd string) (string, error)
}

// Serve starts one with nothing stored in it, in a folder of its own.
func Serve(ctx context.Context, binary, dir string, o Setup) (*Server, error) {
	off := admissionOff
	if !o.Controlled {
		off = slices.Concat(off, Admission)
	}
	ports, err := freePorts()
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "https://127.0.0.1:" + strconv.Itoa(ports[0]), Certificate: filepath.Join(dir, "apiserver.crt")}
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
	if s.Etcd, err = clientv3.New(clientv3.Config{Endpoints: []string{etcd}, Logger: zap.NewNop()}); err != nil {
		return nil, err
	}
	asked := etcd
	if o.Through != nil {
		if asked, err = o.Through(ctx, etcd); err != nil {
			return nil, err
		}
	}
	// Its clients are called by its name, and what they write is recognized by it.
	s.Process, err = Start(ctx, "kube-apiserver", binary, dir, []string{"ETCD_DIR=" + filepath.Join(dir, "etcd"), "ETCD_CLIENT=" + etcd, "ETCD_PEER=http://127.0.0.1:" + strconv.Itoa(ports[2])},
		"--etcd-servers="+asked, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port="+strconv.Itoa(ports[0]),
		"--endpoint-reconciler-type=none", "--service-cluster-ip-range="+o.Ranges[0].String()+","+o.Ranges[1].String(), "--service-account-issuer=https://oracle", "--service-account-key-file="+key,
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
func (s *Server) ready(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < readyMax; time.Sleep(100 * time.Millisecond) {
		select {
		case <-s.Done:
			return fmt.Errorf("kube-apiserver has ended: %s", s.Said())
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
		pem, err := os.ReadFile(s.Certificate)
		if err != nil {
			continue
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		s.Client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}}}
		if resp, _, err := s.Send(ctx, http.MethodGet, "/readyz", "", "", nil); err == nil && resp.StatusCode == http.StatusOK {
			return nil
		}
	}
	return errors.New("kube-apiserver is not ready")
}

// Stop stops it, and the client of its etcd.
func (s *Server) Stop() {
	_ = s.Etcd.Close()
	s.Process.Stop()
}
