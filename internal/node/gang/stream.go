package gang

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"berth/internal/node/process"
)

// The kinds of frames. A frame has its kind, four bytes with the length of what follows, and that.
const (
	frameRequest = 'q' // a Request as JSON; the first frame
	frameIn      = 'i' // a piece of the standard input; empty: its end
	frameOut     = 'o' // a piece of the standard output
	frameErr     = 'e' // a piece of the standard error
	frameResult  = 'r' // a Result as JSON; the last frame of the end where the program runs
)

const (
	frameHeader = 1 + 4
	// maxFrame is the largest size of what follows the header, bytes. A request has the environment of a task.
	maxFrame = 16 << 20
)

// Request is what is asked of a worker.
type Request struct {
	Secret string `json:"secret,omitempty"` // of the gang on the node that is asked; between workers the path says which gang is meant
	Host   string `json:"host,omitempty"`   // the node on which the program is to run, by its name in the gang
	// Shell is a command line for the shell, and Command a program with its arguments. One of both is set.
	Shell   string   `json:"shell,omitempty"`
	Command []string `json:"command,omitempty"`
	Dir     string   `json:"dir,omitempty"` // the folder in which it runs
	Env     []string `json:"env,omitempty"` // what it has beside the variables of all processes of the gang on its node
}

// Result is how the program of a request ended.
type Result struct {
	Failure *process.Failure `json:"failure,omitempty"` // nil: its exit status was 0
	Refused string           `json:"refused,omitempty"` // why it was not started; one line
}

// stream is a connection that carries frames.
type stream struct {
	r  *bufio.Reader
	mu sync.Mutex // held while a frame is written
	w  io.Writer
}

func newStream(conn io.ReadWriter) *stream { return &stream{r: bufio.NewReader(conn), w: conn} }

// send writes a frame.
func (s *stream) send(kind byte, data []byte) error {
	frame := make([]byte, frameHeader, frameHeader+len(data))
	frame[0] = kind
	binary.BigEndian.PutUint32(frame[1:], uint32(len(data)))
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.w.Write(append(frame, data...))
	return err
}

// sendJSON writes a frame with a value.
func (s *stream) sendJSON(kind byte, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.send(kind, data)
}

// next reads a frame.
func (s *stream) next() (kind byte, data []byte, err error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(s.r, header[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(header[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("a frame has %d bytes, and the limit is %d", n, maxFrame)
	}
	data = make([]byte, n)
	_, err = io.ReadFull(s.r, data)
	return header[0], data, err
}

// pieces writes what it gets as frames of one kind.
type pieces struct {
	to   *stream
	kind byte
}

func (p pieces) Write(b []byte) (int, error) {
	if err := p.to.send(p.kind, b); err != nil {
		return 0, err
	}
	return len(b), nil
}
