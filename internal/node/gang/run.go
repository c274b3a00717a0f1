package gang

import (
	"encoding/json"
	"fmt"
	"io"
)

// Run has the worker at the other end of the connection start a program, passes its standard files on, and returns how it ended. in is read until
// its end or that of the program; nil: there is no input. Closing the connection ends the program. An error means that the connection
// was lost.
func Run(conn io.ReadWriter, r Request, in io.Reader, out, errs io.Writer) (Result, error) {
	s := newStream(conn)
	if err := s.sendJSON(frameRequest, r); err != nil {
		return Result{}, err
	}
	go func() {
		if in != nil {
			_, _ = io.Copy(pieces{s, frameIn}, in)
		}
		_ = s.send(frameIn, nil) // if it fails, so does the next read
	}()
	for {
		kind, data, err := s.next()
		if err != nil {
			return Result{}, err
		}
		switch kind {
		case frameOut:
			_, err = out.Write(data)
		case frameErr:
			_, err = errs.Write(data)
		case frameResult:
			var result Result
			return result, json.Unmarshal(data, &result)
		default:
			err = fmt.Errorf("a frame of the unknown kind %q", kind)
		}
		if err != nil {
			return Result{}, err
		}
	}
}
