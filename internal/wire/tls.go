package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"

	"berth/internal/job"
)

// protocol is what the two sides of a message connection agree on in the handshake
// (ALPN), so that a shuffle server is not taken for a coordinator.
const protocol = "berth/1"

// shuffleProtocol is spoken by shuffle servers.
const shuffleProtocol = "http/1.1"

// config is what all connections share: TLS 1.3 alone, certificates of one authority at both ends, and
// no session that would be taken up again without a look at certificates. A client knows the server by
// its name; require has the last word on the peer.
func config(id *Identity, proto, server string, require func(tls.ConnectionState) error) *tls.Config {
	return &tls.Config{
		MinVersion:                  tls.VersionTLS13,
		Certificates:                []tls.Certificate{id.cert},
		NextProtos:                  []string{proto},
		SessionTicketsDisabled:      true,
		DynamicRecordSizingDisabled: true,
		ClientAuth:                  tls.RequireAndVerifyClientCert,
		ClientCAs:                   id.roots,
		RootCAs:                     id.roots,
		ServerName:                  server,
		VerifyConnection:            require,
	}
}

// ServerTLS is how a coordinator takes connections: from workers alone.
func ServerTLS(id *Identity) *tls.Config {
	return config(id, protocol, coordinatorName, requireWorker)
}

// ClientTLS is how a worker connects: to its coordinator alone.
func ClientTLS(id *Identity) *tls.Config {
	return config(id, protocol, coordinatorName, requireCoordinator)
}

// ShuffleServerTLS is how a worker serves map outputs: to the coordinator and the
// workers of its authority.
func ShuffleServerTLS(id *Identity) *tls.Config {
	return config(id, shuffleProtocol, workerName, requireRole)
}

// ShuffleClientTLS is how map outputs are fetched: from workers of the authority.
func ShuffleClientTLS(id *Identity) *tls.Config {
	return config(id, shuffleProtocol, workerName, requireWorker)
}

// The require functions run once the certificate chain is verified.

func requireWorker(s tls.ConnectionState) error {
	node, err := peerRole(s)
	if err == nil && node == "" {
		err = errors.New("a coordinator's certificate in a worker's place")
	}
	return err
}

func requireCoordinator(s tls.ConnectionState) error {
	node, err := peerRole(s)
	if err == nil && node != "" {
		err = errors.New("a worker's certificate in a coordinator's place")
	}
	return err
}

func requireRole(s tls.ConnectionState) error {
	_, err := peerRole(s)
	return err
}

func peerRole(s tls.ConnectionState) (job.NodeID, error) {
	if len(s.PeerCertificates) == 0 {
		return "", errors.New("no certificate")
	}
	return roleOf(s.PeerCertificates[0])
}

// PeerNode returns the node that the certificate of the connected worker names.
func PeerNode(c *Conn) (job.NodeID, error) {
	t, ok := c.nc.(*tls.Conn)
	if !ok {
		return "", errors.New("wire: the connection has no certificates")
	}
	node, err := peerRole(t.ConnectionState())
	if err == nil && node == "" {
		err = errors.New("wire: the peer is no worker")
	}
	return node, err
}

// refused is the error for a handshake that failed. A peer that could not be
// verified, or that refuses this side, will do so again; anything else may pass.
func refused(peer string, err error) error {
	var unverified *tls.CertificateVerificationError
	var host x509.HostnameError
	var op *net.OpError
	switch {
	case errors.As(err, &unverified), errors.As(err, &host):
		return &job.Error{
			Class: job.Fatal, Where: peer, What: "a stranger answers", Err: err,
			Do: "another server may have taken the port; the keys are read again at the next try",
		}
	case errors.As(err, &op) && op.Op == "remote error":
		return refusedBy(peer, err)
	default:
		return &job.Error{Class: job.Transient, Code: job.CodeIO, Where: peer, What: "no secure connection", Err: err}
	}
}

// refusedBy is the error for an alert that the peer sent.
func refusedBy(peer string, err error) error {
	return &job.Error{
		Class: job.Fatal, Where: peer, What: "the peer refuses our keys", Err: err,
		Do: "they may be those of an earlier server; they are read again at the next try",
	}
}
