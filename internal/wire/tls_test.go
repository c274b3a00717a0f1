package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"testing"
	"time"

	"berth/internal/core/job"
)

// meet lets a server and a client shake hands and say a byte to each other. It
// returns nil if both were content.
func meet(t *testing.T, server, client *tls.Config) error {
	t.Helper()
	a, b := tcpPair(t)
	said := make(chan error, 1)
	go func() {
		s := tls.Server(a, server)
		_, err := s.Write([]byte{1})
		if err == nil {
			_, err = io.ReadFull(s, make([]byte, 1))
		}
		s.Close()
		said <- err
	}()
	c := tls.Client(b, client)
	_, err := c.Write([]byte{2})
	if err == nil {
		_, err = io.ReadFull(c, make([]byte, 1))
	}
	c.Close()
	return errors.Join(err, <-said)
}

// Who may talk to whom: every server against every client.
func TestWhoMayTalkToWhom(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	worker, other := ours.worker(t, "a1/0"), ours.worker(t, "a1/1")
	stranger := theirs.worker(t, "a1/0")
	past := time.Now().Add(-2 * certLife)
	expired := must[*Identity](t)(ours.issue("a1/0", past, certLife))
	expiredCoordinator := must[*Identity](t)(ours.issue("", past, certLife))

	anonymous := ClientTLS(worker)
	anonymous.Certificates = nil
	old := ClientTLS(worker)
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	// A client that pretends: another's keys, and no look at who answers.
	pretend := func(id *Identity, proto string) *tls.Config {
		c := config(id, proto, "")
		c.InsecureSkipVerify = true
		return c
	}
	tests := []struct {
		name           string
		server, client *tls.Config
		ok             bool
	}{
		{"worker to coordinator", ServerTLS(ours.coordinator), ClientTLS(worker), true},
		{"worker to shuffle server", ShuffleTLS(other), ShuffleTLS(worker), true},
		{"worker to its own shuffle server", ShuffleTLS(worker), ShuffleTLS(worker), true},
		{"coordinator to shuffle server", ShuffleTLS(worker), ShuffleTLS(ours.coordinator), true},

		{"no certificate", ServerTLS(ours.coordinator), anonymous, false},
		{"second authority", ServerTLS(ours.coordinator), pretend(stranger, protocol), false},
		{"expired worker", ServerTLS(ours.coordinator), pretend(expired, protocol), false},
		{"coordinator as worker", ServerTLS(ours.coordinator), pretend(ours.coordinator, protocol), false},
		{"TLS 1.2", ServerTLS(ours.coordinator), old, false},
		{"shuffle client to coordinator", ServerTLS(ours.coordinator), pretend(worker, shuffleProtocol), false},

		{"worker as coordinator", ServerTLS(other), ClientTLS(worker), false},
		{"stranger as coordinator", ServerTLS(theirs.coordinator), ClientTLS(worker), false},
		{"expired coordinator", ServerTLS(expiredCoordinator), ClientTLS(worker), false},
		{"shuffle server as coordinator", ShuffleTLS(other), ClientTLS(worker), false},

		{"stranger to shuffle server", ShuffleTLS(worker), pretend(stranger, shuffleProtocol), false},
		{"expired to shuffle server", ShuffleTLS(worker), pretend(expired, shuffleProtocol), false},
		{"stranger as shuffle server", ShuffleTLS(stranger), ShuffleTLS(worker), false},
		{"coordinator as shuffle server", ShuffleTLS(ours.coordinator), ShuffleTLS(worker), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := meet(t, tt.server, tt.client); (err == nil) != tt.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The role in the certificate is looked at also where the name in it would do.
func TestRoles(t *testing.T) {
	a := newAuthority(t)
	worker, coordinator := a.worker(t, "a1/0").cert.Leaf, a.coordinator.cert.Leaf
	tests := []struct {
		name         string
		cert         *x509.Certificate
		worker, role bool
	}{
		{"worker", worker, true, true},
		{"coordinator", coordinator, false, true},
		{"authority", a.cert, false, false},
		{"none", nil, false, false},
	}
	for _, tt := range tests {
		var s tls.ConnectionState
		if tt.cert != nil {
			s.PeerCertificates = []*x509.Certificate{tt.cert}
		}
		if _, err := peerRole(s); requireWorker(s) == nil != tt.worker || err == nil != tt.role {
			t.Errorf("%s: as worker %v, as either %v", tt.name, requireWorker(s), err)
		}
	}
	for _, uri := range []string{"berth://worker/", "berth://worker", "berth://coordinator/x", "berth://other/a1/0", "https://worker/a1/0"} {
		u := must[*url.URL](t)(url.Parse(uri))
		if node, err := roleOf(&x509.Certificate{URIs: []*url.URL{u}}); err == nil {
			t.Errorf("%s is taken for %q", uri, node)
		}
	}
}

func TestDialErrors(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	l, _ := listen(t, theirs)
	bundle := &Bundle{Addrs: []string{l.Addr().String()}, Identity: ours.worker(t, "a1/0")}

	if _, err := Dial(context.Background(), bundle); job.ClassOf(err) != job.Fatal || err == nil {
		t.Errorf("to a stranger: %v", err)
	}
	bundle.Addrs[0] = closedPort(t)
	if _, err := Dial(context.Background(), bundle); job.ClassOf(err) != job.Transient {
		t.Errorf("to nobody: %v", err)
	}
	silent := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	defer silent.Close()
	bundle.Addrs[0] = silent.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		c, err := silent.Accept()
		if err == nil {
			defer c.Close()
			io.ReadFull(c, make([]byte, 5)) //nolint:errcheck // the client has said something
		}
		cancel()
	}()
	if _, err := Dial(ctx, bundle); job.ClassOf(err) != job.Transient || !errors.Is(err, context.Canceled) {
		t.Errorf("to somebody silent, until cancelled: %v", err)
	}
}
