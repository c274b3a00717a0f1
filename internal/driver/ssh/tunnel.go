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

// window is how much of a stream may be on its way, bytes: as much as OpenSSH lets through without hearing that it arrived. With less a
// long way would hold back a stream that is alone on it.
const window = 2 << 20

// tunnelConfig has either end look every 20 s whether the other is there, and hang up when it was silent for a minute.
func tunnelConfig() *yamux.Config {
	c := yamux.DefaultConfig()
	c.MaxStreamWindowSize = window
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

// A stream begins with a word of what it is for. Only the first one, with what is to be run, has none.
const (
	forCoordinator = "coordinator" // from the host: the worker's connection to the coordinator
	forNode        = "node "       // from the host: a connection to the node whose address follows (nodeAddr)
	forFiles       = "files"       // from the host: HTTP about files of jobs (package transfer)
	forOutputs     = "outputs"     // to the host: a connection of another node's
	forEnd         = "end"         // to the host: the worker shall end
)

// purposeTime is how long a stream may take to say what it is for.
const purposeTime = time.Minute

// open opens a stream for a purpose of at most 255 bytes.
func open(session *yamux.Session, purpose string) (net.Conn, error) {
	stream, err := session.OpenStream()
	if err != nil {
		return nil, err
	}
	if _, err := stream.Write(append([]byte{byte(len(purpose))}, purpose...)); err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	return stream, nil
}

// purposeOf reads what a stream is for that the other end has opened.
func purposeOf(stream net.Conn) (string, error) {
	if err := stream.SetReadDeadline(time.Now().Add(purposeTime)); err != nil {
		return "", err
	}
	var b [255]byte
	if _, err := io.ReadFull(stream, b[:1]); err != nil {
		return "", err
	}
	purpose := b[:b[0]]
	if _, err := io.ReadFull(stream, purpose); err != nil {
		return "", err
	}
	return string(purpose), stream.SetReadDeadline(time.Time{})
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
