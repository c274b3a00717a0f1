package files

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// capture is a file without a name, to which an attempt prints one stream. It is new for each attempt, because a process that a task left
// behind may keep it open for ever.
type capture struct {
	fd       int // open for appending; closed by the Output
	*os.File     // the same file, for reading
}

// newCapture makes one in a folder. Where the file system makes no files without a name, its name is removed.
func newCapture(dir string) (*capture, error) {
	file, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_RDWR, 0o600)
	if err != nil {
		if file, err = os.CreateTemp(dir, "capture."); err != nil {
			return nil, err
		}
		err = os.Remove(file.Name())
	}
	c := &capture{File: file}
	if err == nil {
		c.fd, err = open(c.name(), unix.O_WRONLY|unix.O_APPEND)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return c, nil
}

// name returns a path of the file, which other opens of it in this process can use.
func (c *capture) name() string { return fmt.Sprintf("/proc/self/fd/%d", c.Fd()) }
