package statedir

import (
	"bufio"
	"bytes"
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

var errDamaged = errors.New("its checksum is wrong: it was changed after berth had written it")

// writeTasks writes a task table to an empty file.
func writeTasks(f *os.File, t Tasks) error {
	if _, err := f.Write(make([]byte, tasksHeaderSize)); err != nil {
		return err
	}
	sum := crc32.New(castagnoli)
	w := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<20)
	if _, err := w.Write(t.Entries.encoded); err != nil {
		return err
	}
	enc := msgpack.NewEncoder(w)
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
	b, err := os.ReadFile(r.tasks())
	if err != nil {
		return Tasks{}, ReadError(r.tasks(), err)
	}
	t, err := readTasks(b, kind)
	return t, WithAdvice(ReadError(r.tasks(), err))
}

// readTasks returns the task table that a file has, and keeps b. It verifies its checksum, if there is one.
func readTasks(b []byte, kind job.Kind) (t Tasks, err error) {
	if len(b) == 0 {
		return t, errors.New("it is empty: a crash of the machine has cut it off")
	}
	if len(b) >= tasksHeaderSize && string(b[:len(tasksMagic)]) == tasksMagic {
		want := binary.LittleEndian.Uint32(b[len(tasksMagic):])
		if b = b[tasksHeaderSize:]; crc32.Checksum(b, castagnoli) != want {
			return t, errDamaged
		}
	}
	if kind == job.Bag {
		t.Entries, err = readEntries(b)
		return t, err
	}
	dec := msgpack.NewDecoder(bytes.NewReader(b))
	for {
		var s job.Split
		switch err := dec.Decode(&s); {
		case errors.Is(err, io.EOF):
			return t, nil
		case err != nil:
			return t, err
		}
		t.Splits = append(t.Splits, s)
	}
}
