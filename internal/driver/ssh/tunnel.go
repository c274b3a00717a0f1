package ssh

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/hashicorp/yamux"

	"berth/internal/wire"
)

// start is what Hold tells Serve, in the first stream.
type start struct {
	Config wire.WorkerConfig `json:"config"`
	Bundle []byte            `json:"bundle"` // the worker's keys, as in the file (wire.WriteBundle)
}

// maxStart bounds it, bytes.
const maxStart = 1 << 20

// Serve's greeting is the first that counts of what ssh brings; what start-up files of the user's shell print comes before it.
const (
	greeting    = "berth worker on standard input and output, version 1\n"
	maxGreeting = 1 << 20
)

// tunnelConfig has either end look every 20 s whether the other is there, and hang up when it was silent for a minute.
func tunnelConfig() *yamux.Config {
	c := yamux.DefaultConfig()
	c.KeepAliveInterval, c.ConnectionWriteTimeout = 20*time.Second, time.Minute
	c.LogOutput = io.Discard
	return c
}

// ends are two files as one connection.
type ends struct {
	io.Reader
	io.WriteCloser
	closeRead func() error
}

func (e *ends) Close() error { return errors.Join(e.WriteCloser.Close(), e.closeRead()) }

// awaitGreeting reads up to the end of Serve's greeting.
func awaitGreeting(r *bufio.Reader) error {
	for read := 0; read < maxGreeting; {
		line, err := r.ReadString('\n')
		if err != nil {
			return fmt.Errorf("it says nothing of a worker: %w", err)
		}
		if line == greeting {
			return nil
		}
		read += len(line)
	}
	return errors.New("it says much, and nothing of a worker")
}

// send tells the other end what it is to run.
func send(session *yamux.Session, s start) error {
	stream, err := session.OpenStream()
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(stream).Encode(s), stream.Close())
}

// receive takes what the other end tells.
func receive(session *yamux.Session) (s start, err error) {
	stream, err := session.AcceptStream()
	if err != nil {
		return s, err
	}
	defer func() { _ = stream.Close() }()
	return s, json.NewDecoder(io.LimitReader(stream, maxStart)).Decode(&s)
}

// join passes on what comes from either connection until both have ended, or one of them failed.
func join(a, b net.Conn) {
	done := make(chan struct{})
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_ = to.Close() // the streams are TLS connections, whose ends are both over when one is
		done <- struct{}{}
	}
	go pass(a, b)
	go pass(b, a)
	<-done
	<-done
}
