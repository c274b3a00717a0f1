package swf

import (
	"encoding/binary"
	"io"
	"os"

	"berth/internal/simulate/workload"
	"berth/internal/simulate/workload/logfile"
)

// Options control how a log is read and which of its jobs become a workload.
type Options struct {
	Odd workload.OnOdd

	// The following fields are for Log.Rigid.

	Procs     int       // of the cluster; 0: as in the header, or unlimited
	Estimates Estimates // the wall times of the jobs; "" means User
	Filter    bool      // leave out jobs as Log.filter does
}

// Open reads the log in a file, whether compressed or not. Errors that the user can correct are
// *job.Error with "file:line".
func Open(path string, o Options) (*Log, error) {
	f, err := logfile.Open(path, "the log")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path, o)
}

// Read reads a log, whether compressed or not. name is its name in messages.
func Read(r io.Reader, name string, o Options) (*Log, error) {
	p := &parser{log: &Log{Name: name}, odd: o.Odd}
	if f, ok := r.(*os.File); ok {
		p.size = size(f)
	}
	if err := logfile.Lines(r, name, p.take); err != nil {
		return nil, err
	}
	return p.log, nil
}

// size returns the length of the text in a file, or 0 if it is unknown. It is used to allocate memory for all jobs at once, so it may be wrong.
func size(f *os.File) int64 {
	var head, tail [4]byte
	info, err := f.Stat()
	if _, unread := f.ReadAt(head[:], 0); err != nil || unread != nil {
		return 0
	}
	if head[0] != 0x1f {
		return info.Size()
	}
	_, _ = f.ReadAt(tail[:], info.Size()-4)
	return int64(binary.LittleEndian.Uint32(tail[:])) // gzip ends with the length modulo 2^32 (RFC 1952)
}
