// Package page is what all commands of the laboratory have in common: flags, the folder of results, and the page. A table
// stands between two marks, <!-- NAME:begin --> and <!-- NAME:end -->, and begins with the date, the commit, the number
// of repetitions, the machine and its load while it was measured.
package page

import (
	"errors"
	"os"
	"strings"
)

// Table is the part of a page between two marks.
type Table struct{ File, Name string }

// Check returns an error if the page cannot be read or lacks the marks. A measurement calls it first, so that the error
// comes before half an hour of work.
func (t Table) Check() error {
	_, _, err := t.around()
	return err
}

// Replace replaces the table.
func (t Table) Replace(text string) error {
	before, after, err := t.around()
	if err != nil {
		return err
	}
	return os.WriteFile(t.File, []byte(before+"\n"+strings.Trim(text, "\n")+"\n"+after), 0o644)
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
