package rundir

import (
	"fmt"

	"berth/internal/mapreduce/input"
)

// inputNotes returns notes on how the input is read, where a user may not expect it.
func inputNotes(sum input.InputSummary) []string {
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
	return notes
}
