package rundir

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"berth/internal/core/job"
	"berth/internal/mapreduce/input"
)

// inputNotes returns notes on how the input is read, where a user may not expect it.
func inputNotes(sum input.InputSummary, splits []job.Split) []string {
	var notes []string
	if sum.Skipped > 0 {
		notes = append(notes, fmt.Sprintf("%d sockets, devices or circular links in input folders are skipped, because they are not files", sum.Skipped))
	}
	if sum.Foreign > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d input files look compressed and are read as they are, such as %s: only %s are unpacked",
			sum.Foreign, sum.Files, sum.ForeignFile, input.Suffixes()))
	}
	if sum.Files == 0 {
		notes = append(notes, "the input has no files, so no mapper runs and the output is empty")
	}
	if len(splits) > 0 && windowsLines(splits[0].Ranges[0]) {
		notes = append(notes, splits[0].Ranges[0].Path+" has Windows line ends: mappers get the carriage returns, which Hadoop removes")
	}
	return notes
}

// headSize is how many bytes of the input are examined.
const headSize = 64 << 10

// windowsLines reports whether the first line of a plain file ends with CR LF.
func windowsLines(r job.Range) bool {
	if r.Length < 0 {
		return false
	}
	f, err := os.Open(r.Path)
	if err != nil {
		return false // the task that reads the file reports the error
	}
	defer func() { _ = f.Close() }() // only read
	head, _ := io.ReadAll(io.LimitReader(f, headSize))
	line, _, whole := bytes.Cut(head, []byte{'\n'})
	return whole && bytes.HasSuffix(line, []byte{'\r'})
}
