package hqhome

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// Entry is a job of hq: a task of a bag. The jobs are numbered from 1.
type Entry struct {
	ID   int
	Bag  job.ID
	Task int    // from 0
	Key  string // of the bags that the job may be a task of
	Name string
	Told string // as in Submission
}

// Ledger is the list of the jobs in a folder. While it is open no other process changes it.
type Ledger struct {
	Entries []Entry
	file    *os.File
}

// OpenLedger opens the list of a folder and waits until no other process has it.
func OpenLedger(dir string) (*Ledger, error) {
	f, err := os.OpenFile(filepath.Join(dir, "jobs"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	l := &Ledger{file: f}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	if err == nil {
		err = l.read()
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return l, nil
}

// Close lets other processes have the list.
func (l *Ledger) Close() error { return l.file.Close() }

// read reads lines "bag BAG TASK KEY NAME TOLD"; others are those of earlier versions, without TOLD too. A last line that is not whole is cut off.
func (l *Ledger) read() error {
	text, err := io.ReadAll(l.file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole < len(text) {
		if err := l.file.Truncate(int64(whole)); err != nil {
			return err
		}
	}
	for line := range strings.Lines(string(text[:whole])) {
		words := append(strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 6), "")
		if len(words) > 5 && words[0] == "bag" {
			task, err := strconv.Atoi(words[2])
			if err != nil {
				return fmt.Errorf("%s: %w", l.file.Name(), err)
			}
			l.Entries = append(l.Entries, Entry{ID: len(l.Entries) + 1, Bag: job.ID(words[1]), Task: task, Key: words[3], Name: words[4], Told: words[5]})
		}
	}
	return nil
}

// oneWord returns a name without blanks and control characters.
func oneWord(name string) string {
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), "_")
}

// Add writes a job down and returns its number.
func (l *Ledger) Add(e Entry) (int, error) {
	e.ID = len(l.Entries) + 1
	l.Entries = append(l.Entries, e)
	_, err := fmt.Fprintf(l.file, "bag %s %d %s %s %s\n", e.Bag, e.Task, e.Key, oneWord(e.Name), e.Told)
	return e.ID, err
}

// tell leaves the status of a job that has failed where Nextflow looks for it, unless the job itself has done so. Where that is not possible, Nextflow
// finds some minutes later that the job is no more.
func (e Entry) tell(s State) {
	told := filepath.Join(e.Told, ".exitcode")
	if e.Told == "" || s != Failed && s != Canceled {
		return
	}
	if _, err := os.Lstat(told); err == nil {
		return
	}
	if held, err := os.OpenFile(told+".held", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err == nil {
		_, _ = held.WriteString("143") // of what SIGTERM has ended
		_ = held.Close()
	}
	// A link never replaces a status that this node does not see yet. Some file systems have none.
	if err := os.Link(told+".held", told); err != nil && !errors.Is(err, fs.ErrExist) {
		_ = os.Rename(told+".held", told)
	}
}
