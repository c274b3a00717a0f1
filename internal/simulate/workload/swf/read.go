package swf

import (
	"io"

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
	if err := logfile.Lines(r, name, p.take); err != nil {
		return nil, err
	}
	return p.log, nil
}
