package attach

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// keys are the certificates and keys of one Server, PEM except the server's own. They exist
// only here and are valid for a day.
type keys struct {
	authority, client, clientKey []byte
	server                       tls.Certificate
}

func newKeys() (k keys, err error) {
	ca := &x509.Certificate{Subject: pkix.Name{CommonName: "ipamsim serve"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	authority, authorityKey, err := certify(ca, ca, nil)
	if err != nil {
		return keys{}, err
	}
	server, serverKey, err := certify(&x509.Certificate{
		Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, ca, authorityKey)
	if err != nil {
		return keys{}, err
	}
	client, clientKey, err := certify(&x509.Certificate{
		Subject: pkix.Name{CommonName: "viewer"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, authorityKey)
	if err != nil {
		return keys{}, err
	}
	private, err := x509.MarshalECPrivateKey(clientKey)
	if err != nil {
		return keys{}, err
	}
	return keys{
		authority: encoded("CERTIFICATE", authority), client: encoded("CERTIFICATE", client), clientKey: encoded("EC PRIVATE KEY", private),
		server: tls.Certificate{Certificate: [][]byte{server}, PrivateKey: serverKey},
	}, nil
}

// certify creates a certificate; without a key of the authority it is self-signed.
func certify(c, ca *x509.Certificate, by *ecdsa.PrivateKey) (der []byte, key *ecdsa.PrivateKey, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, err
	}
	if by == nil {
		by = key
	}
	if c.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100)); err != nil {
		return nil, nil, err
	}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	c.KeyUsage |= x509.KeyUsageDigitalSignature
	der, err = x509.CreateCertificate(rand.Reader, c, ca, &key.PublicKey, by)
	return der, key, err
}

func encoded(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
