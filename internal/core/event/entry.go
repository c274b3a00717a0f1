package event

import (
	"encoding/binary"
	"errors"
	"fmt"

	"berth/internal/core/job"
	"berth/internal/core/mpack"
)

// Entry is a record with its sequence number and its time.
type Entry struct {
	Seq    uint64   // from 1, over all jobs of the coordinator
	At     job.Time // when the engine made the record
	Record Record
}

// An encoded entry is one MessagePack array of four: sequence number (uint 64),
// time (int 64) and kind (fixint), at full width so that they lie at fixed offsets,
// then the record as a map.
const (
	codeArray4 = 0x94
	codeUint64 = 0xcf
	codeInt64  = 0xd3

	headerSize = 1 + 9 + 9 + 1
)

// kinds decodes records by their kind, the third element.
var kinds = mpack.NewKinds("record", records)

// MaxSize bounds an encoded entry, in bytes.
const MaxSize = 16 << 20

var (
	errHeader = errors.New("event: not an entry")
	errSize   = fmt.Errorf("event: entry larger than %d bytes", MaxSize)
)

// Marshal encodes the entry.
func (e Entry) Marshal() ([]byte, error) { return MarshalTo(nil, e) }

// MarshalTo appends the encoded entry to buf and returns the extended slice. If it
// fails it returns buf unchanged.
func MarshalTo(buf []byte, e Entry) ([]byte, error) {
	if e.Record == nil {
		return buf, fmt.Errorf("event: entry %d has no record", e.Seq)
	}
	out := append(buf, codeArray4, codeUint64)
	out = binary.BigEndian.AppendUint64(out, e.Seq)
	out = append(out, codeInt64)
	out = binary.BigEndian.AppendUint64(out, uint64(e.At))
	out, err := kinds.Append(out, e.Record)
	if err != nil {
		return buf, fmt.Errorf("event: entry %d: %w", e.Seq, err)
	}
	if len(out)-len(buf) > MaxSize {
		return buf, fmt.Errorf("%w: entry %d (%T)", errSize, e.Seq, e.Record)
	}
	return out, nil
}

// Unmarshal decodes an entry. It accepts only what Marshal writes: an
// unknown kind, an unknown field, a value out of its range or trailing bytes are
// errors, as a state folded over partly understood records would be wrong.
// The entry does not share memory with data.
func Unmarshal(data []byte) (Entry, error) {
	if len(data) > MaxSize {
		return Entry{}, errSize
	}
	if len(data) < headerSize || data[0] != codeArray4 || data[1] != codeUint64 || data[10] != codeInt64 {
		return Entry{}, errHeader
	}
	e := Entry{Seq: binary.BigEndian.Uint64(data[2:]), At: job.Time(binary.BigEndian.Uint64(data[11:]))}
	record, err := kinds.Decode(data[headerSize-1], data[headerSize:])
	if err != nil {
		return Entry{}, fmt.Errorf("event: entry %d: %w", e.Seq, err)
	}
	e.Record = record
	return e, nil
}
