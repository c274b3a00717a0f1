package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/mpack"
	"berth/internal/node/process"
)

// Client sends the requests of a host to the Server.
type Client struct{ http *http.Client }

// idleStreams is the largest number of idle streams that are kept open for later requests.
const idleStreams = 64

// NewClient returns a client that opens its connections with dial.
func NewClient(dial func(context.Context) (net.Conn, error)) *Client {
	return &Client{http: &http.Client{Transport: &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		MaxIdleConnsPerHost: idleStreams,
		DisableCompression:  true,
	}}}
}

// request sends a request and returns the answer. The caller closes its body.
func (c *Client) request(ctx context.Context, method, path string, body io.Reader, size int64, header ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://files"+path, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.ContentLength = size
	}
	if body != nil && size == 0 {
		r.Body = http.NoBody
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := c.http.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, lost("the connection over which files are sent was cut: %v", err)
	}
	if a.StatusCode/100 == 2 {
		return a, nil
	}
	defer a.Body.Close()
	text, err := readAll(a.Body)
	var f process.Failure
	if err != nil || mpack.Decode(text, &f) != nil {
		return nil, lost("the machine with the files answers %s", a.Status)
	}
	return nil, failureOf(&f)
}

// ask sends a request with that many bytes of body, and decodes the answer. Both may be nil.
func (c *Client) ask(ctx context.Context, method, path string, body io.Reader, size int64, answer any) error {
	a, err := c.request(ctx, method, path, body, size)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	text, err := readAll(a.Body)
	if err == nil && answer != nil {
		if err = mpack.Decode(text, answer); err != nil {
			return process.Broken("the answer of the machine with the files is not understood: %v", err)
		}
	}
	return err
}

func readAll(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxAnswer+1))
	if err != nil {
		return nil, lost("an answer was cut off: %v", err)
	}
	if len(text) > maxAnswer {
		return nil, process.Broken("the machine with the files answers more than %s", job.FormatSize(maxAnswer))
	}
	return text, nil
}

func jobPath(id job.ID) string { return "/jobs/" + url.PathEscape(string(id)) }

func taskPath(at job.Attempt) string { return fmt.Sprintf("%s/tasks/%d", jobPath(at.Job), at.Task) }

func attemptPath(at job.Attempt) string { return fmt.Sprintf("%s/attempts/%d", taskPath(at), at.N) }

// Needs returns what the task of an attempt needs.
func (c *Client) Needs(ctx context.Context, at job.Attempt) (*Needs, error) {
	var n Needs
	if err := c.ask(ctx, http.MethodGet, taskPath(at)+"/needs", nil, 0, &n); err != nil {
		return nil, err
	}
	if err := n.Check(); err != nil {
		return nil, process.Broken("%v", err)
	}
	return &n, nil
}

// Content returns a reader of a content from the offset on.
func (c *Client) Content(ctx context.Context, id job.ID, sum string, offset int64) (io.ReadCloser, error) {
	a, err := c.request(ctx, http.MethodGet, jobPath(id)+"/contents/"+sum, nil, 0, "Range", fmt.Sprintf("bytes=%d-", offset))
	if err != nil {
		return nil, err
	}
	if a.StatusCode != http.StatusPartialContent {
		_ = a.Body.Close()
		return nil, lost("the machine with the files sends no part of a file but %s", a.Status)
	}
	return a.Body, nil
}

// Stamp is the answer to an upload, with the time of this machine at which it arrived.
type Stamp struct {
	Received
	at time.Time
}

// Send sends a file as the output name of an attempt. When Send returns without an error, the file is complete on the
// server.
func (c *Client) Send(ctx context.Context, at job.Attempt, name, file string) (s Stamp, err error) {
	f, err := os.Open(file)
	if err != nil {
		return s, err
	}
	defer f.Close() // only read
	st, err := f.Stat()
	if err != nil {
		return s, err
	}
	h := sha256.New()
	body := io.TeeReader(io.LimitReader(f, st.Size()), h)
	path := fmt.Sprintf("%s/outputs?name=%s&mode=%o", attemptPath(at), url.QueryEscape(name), st.Mode().Perm())
	if err := c.ask(ctx, http.MethodPut, path, body, st.Size(), &s.Received); err != nil {
		return s, err
	}
	if s.Size != st.Size() || s.Sum != hex.EncodeToString(h.Sum(nil)) {
		return s, lost("%s did not arrive as it was sent", name)
	}
	s.at = time.Now()
	return s, nil
}

// Commit asks the server to commit an attempt's outputs, except those with these indices, and returns where these are. The server refuses if the
// request arrives later than left from now.
func (c *Client) Commit(ctx context.Context, at job.Attempt, names []string, except []int32, s Stamp, left time.Duration) ([]string, error) {
	text, err := mpack.Append(nil, Commit{names, s.Clock.Add(time.Since(s.at) + left), except})
	var answer Committed
	if err == nil {
		err = c.ask(ctx, http.MethodPost, attemptPath(at)+"/commit", bytes.NewReader(text), int64(len(text)), &answer)
	}
	return answer.Beside, err
}

// Drop removes the sent files of an attempt that are not committed.
func (c *Client) Drop(ctx context.Context, at job.Attempt) error {
	return c.ask(ctx, http.MethodDelete, attemptPath(at), nil, 0, nil)
}

// DropOthers removes the uncommitted files of the task's other attempts, up to the number last.
func (c *Client) DropOthers(ctx context.Context, at job.Attempt, last int) error {
	return c.ask(ctx, http.MethodDelete, fmt.Sprintf("%s/others?last=%d", attemptPath(at), last), nil, 0, nil)
}

// Sync returns when all committed files are on the disk.
func (c *Client) Sync(ctx context.Context) error {
	return c.ask(ctx, http.MethodPost, "/sync", nil, 0, nil)
}

var errShort = errors.New("the file ends early")
