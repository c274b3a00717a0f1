package wire

import (
	"errors"
	"fmt"

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
	if err := writeKeys(path, addrs, id.cert.PrivateKey, id.ca, id.cert.Certificate[0]); err != nil {
		return job.IOError(job.Fatal, path, "cannot write a worker's keys", err)
	}
	return nil
}

// LoadBundle reads a bundle. A worker reads it again for each connection. A file that others could
// have read or written is refused.
func LoadBundle(path string) (*Bundle, error) {
	data, err := readPrivate(path)
	if err != nil {
		return nil, err
	}
	addrs, certs, pair, err := parseKeys(data)
	if err == nil && (len(certs) != 2 || len(addrs) == 0 || len(addrs) > maxAddrs) {
		err = errors.New("it is not the bundle of a worker")
	}
	var id *Identity
	if err == nil {
		id, err = newIdentity(certs[0], pair)
	}
	if err == nil && id.Node == "" {
		err = errors.New("it is the bundle of a coordinator")
	}
	if err != nil {
		return nil, keyError(path, "the keys cannot be used", err)
	}
	return &Bundle{Addrs: addrs, Identity: id}, nil
}
