package shuffle

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// GangRoute is the beginning of the paths by which workers speak of gangs, which Node.Gangs serves.
const GangRoute = "/v1/gang/"

// upgrade is the protocol of a connection on which programs of a gang are started, and switching the answer with which it begins.
const (
	upgrade   = "berth-gang"
	switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + upgrade + "\r\n\r\n"
)

// handler serves other nodes.
func (n *Node) handler() http.Handler {
	segments := n.Store.Handler()
	if n.Gangs == nil {
		return segments
	}
	mux := http.NewServeMux()
	mux.Handle("/", segments)
	mux.Handle(GangRoute, n.Gangs)
	return mux
}

// Request sends a request to the worker at an address. The caller closes the body of the answer.
func (n *Node) Request(ctx context.Context, method, addr, path string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "https://"+addr+path, body)
	if err != nil {
		return nil, err
	}
	return n.do(r)
}

func (n *Node) do(r *http.Request) (*http.Response, error) {
	n.mu.Lock()
	client := n.client
	n.mu.Unlock()
	if client == nil {
		return nil, errors.New("no coordinator has answered yet")
	}
	return client.Do(r)
}

// Upgrade returns a connection to the worker at an address that begins with the path. The request has a body of a byte (Upgraded).
func (n *Node) Upgrade(ctx context.Context, addr, path string) (io.ReadWriteCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+addr+path, strings.NewReader("\n"))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", upgrade)
	resp, err := n.do(r)
	if err != nil {
		return nil, err
	}
	if conn, ok := resp.Body.(io.ReadWriteCloser); ok && resp.StatusCode == http.StatusSwitchingProtocols {
		return conn, nil
	}
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // only for the error message
	_ = resp.Body.Close()
	return nil, fmt.Errorf("%s: %s", resp.Status, said)
}

// Upgraded returns the connection of a request by Upgrade. As long as the body of a request is not read, the server does not read on, which
// it could not undo on a connection through a tunnel.
func Upgraded(w http.ResponseWriter) (io.ReadWriteCloser, error) {
	conn, ahead, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	if _, err = ahead.ReadByte(); err == nil {
		_, err = io.WriteString(conn, switching)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return upgraded{conn, ahead.Reader}, nil
}

// upgraded is a connection of which something was read ahead.
type upgraded struct {
	net.Conn
	ahead *bufio.Reader
}

func (u upgraded) Read(p []byte) (int, error) { return u.ahead.Read(p) }
