package statedir

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"

	"github.com/vmihailenco/msgpack/v5"

	"berth/internal/core/job"
)

// The file of a task table begins with tasksMagic and the checksum of what follows: the entries or splits, one after the
// other, in MessagePack. Files of earlier versions have only the latter. No value of MessagePack begins with 0xc1.
const (
	tasksMagic      = "\xc1tsk"
	tasksHeaderSize = len(tasksMagic) + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errTasksDamaged = errors.New("its checksum is wrong, so a task could be another than the one that was submitted")

// writeTasks writes a task table to an empty file.
func writeTasks(f *os.File, t Tasks) error {
	if _, err := f.Write(make([]byte, tasksHeaderSize)); err != nil {
		return err
	}
	sum := crc32.New(castagnoli)
	w := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<20)
	enc := msgpack.NewEncoder(w)
	for _, e := range t.Entries {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	for i := range t.Splits {
		if err := enc.Encode(&t.Splits[i]); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := f.WriteAt(binary.LittleEndian.AppendUint32([]byte(tasksMagic), sum.Sum32()), 0)
	return err
}

// loadTasks reads the task table of a run of that kind.
func (r Run) loadTasks(kind job.Kind) (Tasks, error) {
	f, err := os.Open(r.tasks())
	if err != nil {
		return Tasks{}, ReadError(r.tasks(), err)
	}
	defer func() { _ = f.Close() }() // only read
	t, err := readTasks(f, kind)
	if err != nil {
		e := ReadError(r.tasks(), err).(*job.Error)
		e.Do = "put it back from a backup, or submit the job again; what its finished tasks wrote is kept"
		return Tasks{}, e
	}
	return t, nil
}

// readTasks reads a task table and verifies its checksum, if it has one.
func readTasks(f io.Reader, kind job.Kind) (t Tasks, err error) {
	in := bufio.NewReaderSize(f, 1<<20)
	sum := crc32.New(castagnoli)
	head, err := in.Peek(tasksHeaderSize)
	if len(head) == 0 {
		return t, errors.New("it is empty: a crash of the machine has cut it off")
	}
	sealed := err == nil && string(head[:len(tasksMagic)]) == tasksMagic
	var want uint32
	if sealed {
		want = binary.LittleEndian.Uint32(head[len(tasksMagic):])
		_, _ = in.Discard(tasksHeaderSize) // the bytes are buffered, so this does not fail
	}
	dec := msgpack.NewDecoder(bufio.NewReader(io.TeeReader(in, sum)))
	for {
		var e job.Entry
		var s job.Split
		if kind == job.Bag {
			err = dec.Decode(&e)
		} else {
			err = dec.Decode(&s)
		}
		switch {
		case errors.Is(err, io.EOF) && sealed && sum.Sum32() != want:
			return t, errTasksDamaged
		case errors.Is(err, io.EOF):
			return t, nil
		case err != nil:
			return t, err
		case kind == job.Bag:
			t.Entries = append(t.Entries, e)
		default:
			t.Splits = append(t.Splits, s)
		}
	}
}
