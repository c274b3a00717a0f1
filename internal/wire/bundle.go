package wire

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"github.com/google/renameio/v2"

	"berth/internal/core/job"
)

// pemAddress is the type of the PEM block with an address of the coordinator.
const pemAddress = "BERTH COORDINATOR"

// Bundle is what a worker needs to find its coordinator and to authenticate itself. It is a file,
// because arguments and environment variables are not secret.
type Bundle struct {
	Addrs []string // of the coordinator, most likely reachable first: host:port, or the path of a Unix socket on the same machine
	*Identity
}

// WriteBundle writes a worker's bundle to path, with mode 0600. The file is replaced atomically. A
// new coordinator publishes its addresses (Listener.Addresses) in this way.
func WriteBundle(path string, addrs []string, id *Identity) error {
	if len(addrs) == 0 || len(addrs) > maxAddrs {
		return fmt.Errorf("wire: a bundle with %d addresses, but it must have between 1 and %d", len(addrs), maxAddrs)
	}
	var data []byte
	for _, addr := range addrs {
		if err := checkAddress(addr); err != nil {
			return fmt.Errorf("wire: invalid address in a bundle: %w", err)
		}
		data = append(data, pem.EncodeToMemory(&pem.Block{Type: pemAddress, Bytes: []byte(addr)})...)
	}
	key, ok := id.cert.PrivateKey.(ed25519.PrivateKey)
	if !ok {
		return fmt.Errorf("wire: key of type %T cannot be written to a bundle", id.cert.PrivateKey)
	}
	data = append(data, certPEM(id.ca)...)
	data = append(data, certPEM(id.cert.Certificate[0])...)
	block, err := keyPEM(key)
	if err != nil {
		return fmt.Errorf("wire: cannot encode the key of a bundle: %w", err)
	}
	if err := renameio.WriteFile(path, append(data, block...), 0o600, renameio.WithTempDir(filepath.Dir(path))); err != nil {
		return job.IOError(job.Fatal, path, "cannot write a worker's keys", err)
	}
	return nil
}

// checkAddress returns an error for what is no address of a coordinator.
func checkAddress(addr string) error {
	if isPath(addr) {
		return nil
	}
	_, _, err := net.SplitHostPort(addr)
	return err
}

// LoadBundle reads a bundle. A worker reads it again for each connection. A file that others could
// have read or written is refused.
func LoadBundle(path string) (*Bundle, error) {
	data, err := readPrivate(path)
	if err != nil {
		return nil, err
	}
	certs, key, addrs, err := parsePEM(data)
	if err == nil && (len(certs) != 2 || len(addrs) == 0 || len(addrs) > maxAddrs) {
		err = errors.New("it is not the bundle of a worker")
	}
	var id *Identity
	if err == nil {
		id, err = newIdentity(certs[0], certs[1].Raw, key)
	}
	if err == nil && id.Node == "" {
		err = errors.New("it is the bundle of a coordinator")
	}
	if err != nil {
		return nil, keyError(path, "the keys cannot be used", err)
	}
	return &Bundle{Addrs: addrs, Identity: id}, nil
}

// parsePEM parses certificates, one key that matches the last certificate, and any addresses of a
// coordinator.
func parsePEM(data []byte) (certs []*x509.Certificate, key ed25519.PrivateKey, addrs []string, err error) {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case pemAddress:
			addrs = append(addrs, string(block.Bytes))
			err = checkAddress(string(block.Bytes))
		case pemCert:
			var cert *x509.Certificate
			cert, err = x509.ParseCertificate(block.Bytes)
			certs = append(certs, cert)
		case pemKey:
			key, err = parseKey(block.Bytes)
		default:
			err = fmt.Errorf("unexpected PEM block %q", block.Type)
		}
		if err != nil {
			return nil, nil, nil, err
		}
	}
	if key == nil || len(certs) == 0 {
		return nil, nil, nil, errors.New("it is incomplete")
	}
	if !key.Public().(ed25519.PublicKey).Equal(certs[len(certs)-1].PublicKey) {
		return nil, nil, nil, errors.New("the key does not match the certificate")
	}
	return certs, key, addrs, nil
}

func parseKey(der []byte) (ed25519.PrivateKey, error) {
	k, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, err
	}
	key, ok := k.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("the key has the unsupported type %T", k)
	}
	return key, nil
}
