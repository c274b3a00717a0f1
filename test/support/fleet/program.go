package fleet

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Programs returns the folder with the machine's copies of berth as a path on this machine.
func (h *Host) Programs() string { return filepath.Join(h.Cache(), "berth") }

// install gives the machine a copy of Options.Program, where berth looks for it.
func (h *Host) install() error {
	from := h.fleet.opts.Program
	if from == "" || h.Disk > 0 { // tests with a small disk look at the copying
		return nil
	}
	name, err := nameOf(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(h.Programs(), 0o700); err != nil {
		return err
	}
	to := filepath.Join(h.Programs(), name)
	if os.Link(from, to) == nil {
		return nil
	}
	b, err := os.ReadFile(from) // the machine's disk is another file system
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o700) //nolint:gosec // a program
}

var copyNames sync.Map // names of copies, by path of the program

// nameOf returns the name of a program's copies: it has the program's SHA-256.
func nameOf(path string) (string, error) {
	if name, ok := copyNames.Load(path); ok {
		return name.(string), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	name := fmt.Sprintf("berth-%x", sum.Sum(nil))
	copyNames.Store(path, name)
	return name, nil
}
