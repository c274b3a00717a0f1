package event

import (
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"berth/internal/job"
)

// Entry is a record with its place in the order of all records and its time.
type Entry struct {
	Seq    uint64   // from 1, over all jobs of the coordinator
	At     job.Time // when the engine took it
	Record Record
}

// header precedes the record in an encoded entry.
type header struct {
	_msgpack struct{} `msgpack:",as_array"` //nolint:unused // read by the msgpack package
	Seq      uint64
	At       job.Time
	Kind     Kind
}

// Marshal encodes the entry (MessagePack: an array of sequence number, time and
// kind, then the record as a map).
func (e Entry) Marshal() ([]byte, error) {
	head, err := msgpack.Marshal(&header{Seq: e.Seq, At: e.At, Kind: e.Record.Kind()})
	if err != nil {
		return nil, fmt.Errorf("encode record header: %w", err)
	}
	body, err := msgpack.Marshal(e.Record)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", e.Record, err)
	}
	return append(head, body...), nil
}
