package wire

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"berth/internal/core/job"
)

const (
	// caFile is the file with the authority's certificate and key.
	caFile = "ca.pem"

	caLife   = 5 * 365 * 24 * time.Hour
	certLife = 365 * 24 * time.Hour
	// skew is how far a node's clock may be behind, or be set back while keys are in use. It protects nothing that it is
	// short: keys that are not valid yet are nobody's.
	skew = 10 * 365 * 24 * time.Hour

	pemCert = "CERTIFICATE"
	pemKey  = "PRIVATE KEY"
)

// Names in certificates. They name the role of a process and not its address, because addresses
// change and a worker must recognize a coordinator at any address.
const (
	coordinatorName = "coordinator.berth.internal"
	workerName      = "worker.berth.internal"

	uriScheme = "berth"
)

// CA is the certificate authority of one coordinator and its workers, and of nobody else. It is
// stored, and outlives a coordinator process as its workers do: the next process loads it, so the
// workers accept that process.
type CA struct {
	cert *x509.Certificate
	key  crypto.PrivateKey
}

// GenerateCA creates a new authority and stores it in dir, which is created with mode 0700 if
// necessary. An existing authority is replaced, and keys that it issued are no longer accepted.
func GenerateCA(dir string) (*CA, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, keyError(dir, "cannot make the folder for keys", err)
	}
	if err := checkPrivateDir(dir); err != nil {
		return nil, err
	}
	ca, err := newCA(time.Now())
	if err != nil {
		return nil, keyError(dir, "cannot make keys", err)
	}
	path := filepath.Join(dir, caFile)
	if err := writeKeys(path, nil, ca.key, ca.cert.Raw); err != nil {
		return nil, keyError(path, "cannot keep the keys", err)
	}
	return ca, nil
}

// LoadCA loads the authority that is stored in dir. It refuses a folder or file that others could
// have read or written. If there is no authority the error wraps fs.ErrNotExist.
func LoadCA(dir string) (*CA, error) {
	if err := checkPrivateDir(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, caFile)
	data, err := readPrivate(path)
	if err != nil {
		return nil, err
	}
	_, certs, pair, err := parseKeys(data)
	if err == nil && len(certs) != 1 {
		err = fmt.Errorf("it contains %d certificates instead of one", len(certs))
	}
	if err == nil && time.Now().After(certs[0].NotAfter) {
		err = fmt.Errorf("it expired on %s", certs[0].NotAfter.Format(time.DateOnly))
	}
	if err != nil {
		return nil, keyError(path, "the keys cannot be used", err)
	}
	return &CA{cert: certs[0], key: pair.PrivateKey}, nil
}

// newCA creates an authority that is valid from now.
func newCA(now time.Time) (*CA, error) {
	cert, key, err := certify(&x509.Certificate{
		Subject:               pkix.Name{CommonName: "berth"},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.Add(caLife),
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}, nil, nil)
	return &CA{cert: cert, key: key}, err
}

// certify makes a key and a certificate of it, which is signed by an authority with its key, or without one by itself.
func certify(template, by *x509.Certificate, signer crypto.PrivateKey) (*x509.Certificate, ed25519.PrivateKey, error) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if by == nil {
		by, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by, public, signer)
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return cert, key, err
}

// Identity is a certificate with its key and the authority that issued it.
type Identity struct {
	Node  job.NodeID // node of a worker; empty: a coordinator
	cert  tls.Certificate
	roots *x509.CertPool
	ca    []byte // certificate of the authority, DER
}

// IssueCoordinator creates the keys of a coordinator.
func (ca *CA) IssueCoordinator() (*Identity, error) { return ca.issue("", time.Now(), certLife) }

// IssueWorker creates the keys of a node's worker.
func (ca *CA) IssueWorker(node job.NodeID) (*Identity, error) {
	if node == "" {
		return nil, errors.New("wire: keys of a worker cannot be issued without its node")
	}
	return ca.issue(node, time.Now(), certLife)
}

// issue creates the keys of a node's worker, or of a coordinator if node is empty. Both roles are
// server and client (a worker serves map outputs, a coordinator may fetch them), so only the name
// in the certificate distinguishes them.
func (ca *CA) issue(node job.NodeID, now time.Time, life time.Duration) (*Identity, error) {
	name, uri := coordinatorName, roleURI("")
	if node != "" {
		name, uri = workerName, roleURI(node)
	}
	leaf, key, err := certify(&x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		NotBefore:   now.Add(-skew),
		NotAfter:    now.Add(life),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{name},
		URIs:        []*url.URL{uri},
	}, ca.cert, ca.key)
	if err != nil {
		return nil, fmt.Errorf("cannot issue a certificate: %w", err)
	}
	return newIdentity(ca.cert, tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf})
}

func newIdentity(ca *x509.Certificate, cert tls.Certificate) (*Identity, error) {
	node, err := roleOf(cert.Leaf)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	return &Identity{Node: node, cert: cert, roots: roots, ca: ca.Raw}, nil
}

// roleURI returns the name of a coordinator, or of a node's worker, in a certificate:
// berth://coordinator or berth://worker/a3/0.
func roleURI(node job.NodeID) *url.URL {
	if node == "" {
		return &url.URL{Scheme: uriScheme, Host: "coordinator"}
	}
	return &url.URL{Scheme: uriScheme, Host: "worker", Path: "/" + string(node)}
}

// roleOf returns the node in a worker's certificate, or "" for a coordinator's.
func roleOf(cert *x509.Certificate) (job.NodeID, error) {
	if len(cert.URIs) == 1 {
		u := cert.URIs[0]
		node := job.NodeID(strings.TrimPrefix(u.Path, "/"))
		switch {
		case u.Scheme != uriScheme:
		case u.Host == "worker" && node != "":
			return node, nil
		case u.Host == "coordinator" && node == "":
			return "", nil
		}
	}
	return "", errors.New("the certificate names neither a worker nor a coordinator")
}

// keyError returns the error for keys on disk that cannot be used.
func keyError(path, what string, err error) error {
	e := job.IOError(job.Fatal, path, what, err)
	if !errors.Is(err, fs.ErrNotExist) {
		e.Do = "stop the server with `berth server stop`, remove the file, and start it again"
	}
	return e
}

// writeKeys replaces a file of keys: addresses of the coordinator, certificates, and the key of the last of them.
func writeKeys(path string, addrs []string, key crypto.PrivateKey, certs ...[]byte) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	var data []byte
	add := func(kind string, bytes []byte) {
		data = append(data, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes})...)
	}
	for _, addr := range addrs {
		add(pemAddress, []byte(addr))
	}
	for _, cert := range certs {
		add(pemCert, cert)
	}
	add(pemKey, der)
	return renameio.WriteFile(path, data, 0o600, renameio.WithTempDir(filepath.Dir(path)))
}

// parseKeys parses what writeKeys has written. pair is the last certificate with its key.
func parseKeys(data []byte) (addrs []string, certs []*x509.Certificate, pair tls.Certificate, err error) {
	var last []byte
	for block, rest := pem.Decode(data); block != nil && err == nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case pemAddress:
			addrs = append(addrs, string(block.Bytes))
		case pemCert:
			var cert *x509.Certificate
			cert, err = x509.ParseCertificate(block.Bytes)
			certs, last = append(certs, cert), pem.EncodeToMemory(block)
		case pemKey:
		default:
			err = fmt.Errorf("unexpected PEM block %q", block.Type)
		}
	}
	if err == nil {
		pair, err = tls.X509KeyPair(last, data)
	}
	return addrs, certs, pair, err
}
