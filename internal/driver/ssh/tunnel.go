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

// start is what Hold sends to Serve in the first stream.
type start struct {
	Config wire.WorkerConfig `json:"config"`
	Bundle []byte            `json:"bundle"` // the worker's keys, as in the file (wire.WriteBundle)
}

// maxStart bounds the size of a start, bytes.
const maxStart = 1 << 20

// greeting is the first line that Serve sends through ssh. Output of the start-up files of the user's shell comes before it, at most maxGreeting bytes.
const (
	greeting    = "berth worker on standard input and output, version 1\n"
	maxGreeting = 1 << 20
)

// window is the number of bytes of a stream that may be unacknowledged: as many as OpenSSH allows. With a smaller window, a single stream
// over a slow way would not use the whole bandwidth.
const window = 2 << 20

// tunnelConfig makes each end check every 20 s that the other one answers, and close the connection after a minute without an answer.
func tunnelConfig() *yamux.Config {
	c := yamux.DefaultConfig()
	c.MaxStreamWindowSize = window
	c.KeepAliveInterval, c.ConnectionWriteTimeout = 20*time.Second, time.Minute
	c.LogOutput = io.Discard
	return c
}

// ends makes one connection of two files.
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
			return fmt.Errorf("the worker did not start: %w", err)
		}
		if line == greeting {
			return nil
		}
		read += len(line)
	}
	return errors.New("the worker did not start: the host sends other output")
}

// send sends the worker's config to the other end.
func send(session *yamux.Session, s start) error {
	stream, err := session.OpenStream()
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(stream).Encode(s), stream.Close())
}

// receive receives the worker's config from the other end.
func receive(session *yamux.Session) (s start, err error) {
	stream, err := session.AcceptStream()
	if err != nil {
		return s, err
	}
	defer stream.Close()
	return s, json.NewDecoder(io.LimitReader(stream, maxStart)).Decode(&s)
}

// A stream begins with its purpose. Only the first stream, with the worker's config, has none.
const (
	forCoordinator = "coordinator" // from the host: the worker's connection to the coordinator
	forNode        = "node "       // from the host: a connection to the node whose address follows (wire.NodeAddress)
	forFiles       = "files"       // from the host: HTTP about files of jobs (package transfer)
	forOutputs     = "outputs"     // to the host: a connection of another node
	forEnd         = "end"         // to the host: the worker is to end
)

// purposeTime is how long the purpose of a stream may take to arrive.
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

// purposeOf reads the purpose of a stream that the other end has opened.
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

// join copies data between two connections until both have ended, or one has failed.
func join(a, b net.Conn) {
	done := make(chan struct{})
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_ = to.Close() // the streams are TLS connections, whose two directions end together
		done <- struct{}{}
	}
	go pass(a, b)
	go pass(b, a)
	<-done
	<-done
}
