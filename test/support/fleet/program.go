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
	if from == "" {
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
	return copyFile(from, to) // it is on another file system
}

var names sync.Map // names of copies, by path of the program

// nameOf returns the name of a program's copies: it has the program's SHA-256.
func nameOf(path string) (string, error) {
	if name, ok := names.Load(path); ok {
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
	names.Store(path, name)
	return name, nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}
