package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/mpack"
)

const (
	headerSize = 4 + 1 // length of the message and its kind

	// MaxMessage bounds a message, in bytes.
	MaxMessage = 64 << 20
)

// ErrTooLarge is wrapped by the error of a message that is larger than MaxMessage. The
// connection is as it was.
var ErrTooLarge = errors.New("message is too large")

// makers holds, for each kind, how an empty message of it is made.
var makers = map[Kind]func() Message{
	KindHello:        func() Message { return &Hello{} },
	KindHeartbeat:    func() Message { return &Heartbeat{} },
	KindPhaseEntered: func() Message { return &PhaseEntered{} },
	KindLeaveWanted:  func() Message { return &LeaveWanted{} },
	KindCommitWanted: func() Message { return &CommitWanted{} },
	KindEnded:        func() Message { return &Ended{} },
	KindFetchFailed:  func() Message { return &FetchFailed{} },
	KindRetiring:     func() Message { return &Retiring{} },
	KindSynced:       func() Message { return &Synced{} },
	KindWelcome:      func() Message { return &Welcome{} },
	KindHeartbeatAck: func() Message { return &HeartbeatAck{} },
	KindJob:          func() Message { return &Job{} },
	KindStart:        func() Message { return &Start{} },
	KindKill:         func() Message { return &Kill{} },
	KindLeave:        func() Message { return &Leave{} },
	KindCommit:       func() Message { return &Commit{} },
	KindLocate:       func() Message { return &Locate{} },
	KindForget:       func() Message { return &Forget{} },
	KindEndedAck:     func() Message { return &EndedAck{} },
	KindShutdown:     func() Message { return &Shutdown{} },
	KindSync:         func() Message { return &Sync{} },
}

// AppendFrame appends the message as a frame to buf and returns the extended slice.
// On an error buf is returned as it was.
func AppendFrame(buf []byte, m Message) ([]byte, error) {
	start := len(buf)
	out, err := mpack.Append(append(buf, 0, 0, 0, 0, byte(m.Kind())), m)
	if err != nil {
		return buf, fmt.Errorf("wire: %w", err)
	}
	n := len(out) - start - headerSize
	if n > MaxMessage {
		return buf, fmt.Errorf("wire: %w: %T of %d bytes, more than %d", ErrTooLarge, m, n, MaxMessage)
	}
	binary.BigEndian.PutUint32(out[start:], uint32(n))
	return out, nil
}

// Decode decodes the message of a frame of that kind. It takes what AppendFrame
// writes and nothing else: an unknown kind, an unknown field, a value out of its
// range or bytes that follow are errors. The message does not share memory with data.
//
// A Hello of another Version is decoded as far as its version, so that its sender
// can be told.
func Decode(k Kind, data []byte) (Message, error) {
	if len(data) > MaxMessage {
		return nil, fmt.Errorf("wire: message of %d bytes, more than %d", len(data), MaxMessage)
	}
	mk, ok := makers[k]
	if !ok {
		return nil, fmt.Errorf("wire: unknown kind %d of message", k)
	}
	m := mk()
	err := mpack.Decode(data, m)
	if c, ok := m.(interface{ check() error }); ok && err == nil {
		err = c.check()
	}
	if err == nil {
		return m, nil
	}
	if v, ok := foreignVersion(data); ok && k == KindHello {
		return &Hello{Version: v}, nil
	}
	return nil, fmt.Errorf("wire: %w", err)
}

// foreignVersion reads the version of a Hello, which is its first field in every
// version, and reports whether it is another than this one's.
func foreignVersion(data []byte) (version int, ok bool) {
	// A map of up to 15 fields, a one-letter key "v", a positive fixint.
	if len(data) < 4 || data[0]&0xf0 != 0x80 || data[1] != 0xa1 || data[2] != 'v' || data[3] > 0x7f {
		return 0, false
	}
	return int(data[3]), data[3] != Version
}

// The check methods refuse values that no berth sends and that would lead an index
// or a comparison astray.

func (m *Hello) check() error {
	for _, list := range [][]job.Attempt{m.Running, m.Held} {
		for _, a := range list {
			if err := event.CheckAttempt(a); err != nil {
				return err
			}
		}
	}
	if m.Capacity.CPUs < 0 || m.Capacity.Mem < 0 {
		return fmt.Errorf("impossible capacity %+v", m.Capacity)
	}
	return nil
}

func (m *Heartbeat) check() error {
	for _, p := range m.Progress {
		if err := event.CheckAttempt(p.Attempt, p.Phase); err != nil {
			return err
		}
		if math.IsNaN(p.Fraction) || math.IsInf(p.Fraction, 0) {
			return fmt.Errorf("progress of %v is not a number", p.Attempt)
		}
	}
	return nil
}

func (m *FetchFailed) check() error {
	if err := event.CheckAttempt(m.By); err != nil {
		return err
	}
	return event.CheckAttempt(m.Map)
}

func (m *PhaseEntered) check() error { return event.CheckAttempt(m.Attempt, m.Phase) }

func (m *LeaveWanted) check() error { return event.CheckAttempt(m.Attempt, m.Phase) }

func (m *CommitWanted) check() error { return event.CheckAttempt(m.Attempt) }

func (m *Ended) check() error { return m.AttemptEnded.Check() }

func (m *Start) check() error { return event.CheckAttempt(m.Attempt, m.Leave) }

func (m *Kill) check() error { return event.CheckAttempt(m.Attempt) }

func (m *Leave) check() error { return event.CheckAttempt(m.Attempt, m.Phase) }

func (m *Commit) check() error { return event.CheckAttempt(m.Attempt) }

func (m *Locate) check() error { return event.CheckAttempt(m.Map) }

func (m *EndedAck) check() error { return event.CheckAttempt(m.Attempt) }
