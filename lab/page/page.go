// Package page replaces measured tables in the pages of lab/results. A table stands between two marks,
// <!-- NAME:begin --> and <!-- NAME:end -->, and begins with the date and the commit that it was measured with.
package page

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Table is the part of a page between two marks.
type Table struct{ File, Name string }

// Check returns an error if the page cannot be read or lacks the marks. A measurement calls it first, so that the error
// comes before half an hour of work.
func (t Table) Check() error {
	_, _, err := t.around()
	return err
}

// Replace replaces the table, and writes above it when and with which commit of the working folder it was measured.
func (t Table) Replace(text string) error {
	before, after, err := t.around()
	if err != nil {
		return err
	}
	origin := fmt.Sprintf("Measured %s with commit %s.\n\n", time.Now().Format(time.DateOnly), commit())
	return os.WriteFile(t.File, []byte(before+"\n"+origin+strings.TrimLeft(text, "\n")+after), 0o644)
}

// around returns the page up to the first mark and from the second one on, both included.
func (t Table) around() (before, after string, err error) {
	page, err := os.ReadFile(t.File)
	if err != nil {
		return "", "", err
	}
	begin, end := "<!-- "+t.Name+":begin -->", "<!-- "+t.Name+":end -->"
	before, rest, found := strings.Cut(string(page), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", "", errors.New(t.File + " has no " + begin + " and " + end + " after it")
	}
	return before + begin, end + after, nil
}

// commit returns the commit of the source in the working folder, and whether files differ from it.
func commit() string {
	id, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(id))
	if changed, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output(); err != nil || len(changed) > 0 {
		name += " and changes"
	}
	return name
}
