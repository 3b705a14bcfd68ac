package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// credentials are what the server shows and what it accepts.
type credentials struct {
	certPEM           []byte // the server's, signed by itself
	certFile, keyFile string
	accountKeyFile    string // signs service accounts' tokens
	token             string // admin's
	tokenFile         string
}

// newCredentials makes all keys and writes them into dir, for this user only.
func newCredentials(dir string) (credentials, error) {
	c := credentials{
		certFile: filepath.Join(dir, "server.crt"), keyFile: filepath.Join(dir, "server.key"),
		accountKeyFile: filepath.Join(dir, "accounts.key"), tokenFile: filepath.Join(dir, "tokens.csv"),
	}
	key, keyPEM, err := newKey()
	if err != nil {
		return c, err
	}
	if c.certPEM, err = selfSigned(key); err != nil {
		return c, err
	}
	_, accountPEM, err := newKey()
	if err != nil {
		return c, err
	}
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return c, err
	}
	c.token = hex.EncodeToString(secret)
	files := map[string][]byte{
		c.certFile: c.certPEM, c.keyFile: keyPEM, c.accountKeyFile: accountPEM,
		c.tokenFile: []byte(c.token + ",admin,admin,system:masters\n"),
	}
	for name, content := range files {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return c, err
		}
	}
	return c, nil
}

func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	return key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), err
}

// selfSigned makes the server's certificate, its own authority.
func selfSigned(key *ecdsa.PrivateKey) ([]byte, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: "throw-away kube-apiserver"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(7 * 24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:     []string{"localhost"},
		IsCA:         true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), err
}

// writeKubeconfig lets admin in by token.
func (c credentials) writeKubeconfig(file, server string) error {
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
clusters:
- name: test
  cluster:
    server: %s
    certificate-authority-data: %s
contexts:
- name: test
  context:
    cluster: test
    user: admin
    namespace: default
users:
- name: admin
  user:
    token: %s
`, server, base64.StdEncoding.EncodeToString(c.certPEM), c.token)
	return os.WriteFile(file, []byte(text), 0o600)
}
