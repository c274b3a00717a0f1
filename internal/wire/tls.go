package wire

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"net"

	"berth/internal/core/job"
)

// protocol is the name of the message protocol in the handshake (ALPN). It prevents a shuffle
// server from being mistaken for a coordinator.
const protocol = "berth/1"

// shuffleProtocol is the protocol of shuffle servers.
const shuffleProtocol = "http/1.1"

// knock returns the second protocol that a client offers in its first message. It is no proof, only a sign by which servers know
// before any cryptography who may have keys: the certificate of the authority is told to nobody else.
func (id *Identity) knock(proto string) string {
	sum := sha256.Sum256(append([]byte(proto), id.ca...))
	return hex.EncodeToString(sum[:])
}

// config returns the settings of all connections: only TLS 1.3, certificates of the same authority
// on both sides, and no session resumption, which would skip the check of certificates. A client
// checks the server's name, and so its role.
func config(id *Identity, proto, server string) *tls.Config {
	return &tls.Config{
		MinVersion:                  tls.VersionTLS13,
		Certificates:                []tls.Certificate{id.cert},
		NextProtos:                  []string{proto, id.knock(proto)},
		SessionTicketsDisabled:      true,
		DynamicRecordSizingDisabled: true,
		ClientAuth:                  tls.RequireAndVerifyClientCert,
		ClientCAs:                   id.roots,
		RootCAs:                     id.roots,
		ServerName:                  server,
	}
}

// ServerTLS returns the configuration of a coordinator, which accepts only workers.
func ServerTLS(id *Identity) *tls.Config {
	c := config(id, protocol, coordinatorName)
	c.VerifyConnection = requireWorker
	return c
}

// ClientTLS returns the configuration of a worker that connects to its coordinator.
func ClientTLS(id *Identity) *tls.Config { return config(id, protocol, coordinatorName) }

// ShuffleTLS returns the configuration with which a worker serves map outputs to the coordinator and the
// workers of its authority, and with which these fetch them from workers.
func ShuffleTLS(id *Identity) *tls.Config { return config(id, shuffleProtocol, workerName) }

// requireWorker is called after the certificate chain was verified.
func requireWorker(s tls.ConnectionState) error {
	node, err := peerRole(s)
	if err == nil && node == "" {
		err = errors.New("the peer has a coordinator's certificate and must be a worker")
	}
	return err
}

func peerRole(s tls.ConnectionState) (job.NodeID, error) {
	if len(s.PeerCertificates) == 0 {
		return "", errors.New("the peer has no certificate")
	}
	return roleOf(s.PeerCertificates[0])
}

// PeerNode returns the node in the certificate of the connected worker; empty: it is a coordinator's.
func PeerNode(c *Conn) (job.NodeID, error) {
	t, ok := c.nc.(*tls.Conn)
	if !ok {
		return "", errors.New("wire: the connection has no certificates")
	}
	return peerRole(t.ConnectionState())
}

// refused returns the error for a failed handshake. It is Fatal if the peer could not be verified
// or refuses this side, because this would happen again; other errors may pass.
func refused(peer string, err error) error {
	var unverified *tls.CertificateVerificationError
	var host x509.HostnameError
	var op *net.OpError
	switch {
	case errors.As(err, &unverified), errors.As(err, &host):
		return job.FatalError(peer, "another program answers at the address of the coordinator", err).
			Advice("another server may have taken the port; the keys are read again for the next attempt")
	case errors.As(err, &op) && op.Op == "remote error":
		return refusedBy(peer, err)
	default:
		return job.IOError(job.Transient, peer, "cannot establish a secure connection", err)
	}
}

// refusedBy returns the error for a TLS alert that the peer sent.
func refusedBy(peer string, err error) error {
	return job.FatalError(peer, "the peer refuses the keys of this process", err).
		Advice("the keys may be those of an earlier coordinator; they are read again for the next attempt")
}
