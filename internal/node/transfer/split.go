package transfer

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"berth/internal/mapreduce/input"
)

// sizeHeader is the header with the size of the whole file in bytes.
const sizeHeader = "Berth-File-Size"

// split answers with a part of the file of a range, in blocks. Any part of that file may be requested, because a line
// may continue beyond the range.
func (s *Server) split(r *request) (any, error) {
	splits, task := r.of.Tasks.Splits, r.at.Task
	index, err := strconv.Atoi(r.PathValue("range"))
	if err != nil || task >= len(splits) || index < 0 || index >= len(splits[task].Ranges) {
		return nil, fmt.Errorf("%s has no range %q in the split of task %d", r.at.Job, r.PathValue("range"), task)
	}
	part := splits[task].Ranges[index]
	at, err := strconv.ParseInt(r.URL.Query().Get("at"), 10, 64)
	n, nerr := strconv.ParseInt(r.URL.Query().Get("n"), 10, 64)
	if err = errors.Join(err, nerr); err != nil || at < 0 || n < 0 {
		return nil, fmt.Errorf("part of a file from %d, %d bytes: %w", at, n, err)
	}
	file, err := input.Open(part)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the file was only read
	size := file.Size()
	r.w.Header().Set("Content-Type", "application/octet-stream")
	r.w.Header().Set(sizeHeader, strconv.FormatInt(size, 10))
	if err := writeBlocks(r.w, input.Checked(file), at, max(0, min(n, size-at))); err != nil {
		s.log.Info("a part of an input file is not sent to its end", "file", part.Path, "err", err)
		panic(http.ErrAbortHandler) // the client detects that the answer is cut off, and requests the rest
	}
	return nil, nil
}
