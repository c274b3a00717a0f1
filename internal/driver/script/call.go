package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// patience is the longest run time of a script.
const patience = time.Minute

// Exit statuses of scripts that say why they failed, as in sysexits.h. All others are refusals.
const (
	exitAway  = 69 // EX_UNAVAILABLE: the scheduler does not answer
	exitLater = 75 // EX_TEMPFAIL: it does not accept the request now
)

// classify makes the error of a script that failed, from the last line that it wrote.
func (s *System) classify(name, said string, status int) error {
	said = strings.TrimSpace(said)
	e := job.ConfigError(s.path(name), said[strings.LastIndexByte(said, '\n')+1:], "")
	if e.What == "" {
		e.What = fmt.Sprintf("it ended with status %d without a message", status)
	}
	switch status {
	case exitAway:
		e.Class, e.Err = job.Transient, batch.ErrAway
	case exitLater:
		e.Class, e.Err = job.Transient, batch.ErrLater
	}
	return e
}

// run runs a script with in as its input and returns what it prints, unless that goes to out.
func (s *System) run(ctx context.Context, name string, in any, out *os.File) (string, error) {
	if err := s.check(name); err != nil {
		return "", err
	}
	text, err := json.Marshal(in)
	if err != nil {
		return "", err
	}
	printed, _, err := s.tools.Run(ctx, batch.Call{Name: name, Env: s.env, In: string(text) + "\n", Out: out})
	return printed, err
}

// call runs a script and reads what it prints.
func (s *System) call(ctx context.Context, name string, in, into any) error {
	text, err := s.run(ctx, name, in, nil)
	if err != nil {
		return err
	}
	return s.decode(name, text, into)
}

// decode reads what a script printed. The error says where it is wrong.
func (s *System) decode(name, text string, into any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	at, syntax, kind := d.InputOffset(), (*json.SyntaxError)(nil), (*json.UnmarshalTypeError)(nil)
	switch {
	case err == nil:
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.New("there is more than one value")
	case errors.Is(err, io.EOF):
		err = errors.New("it printed nothing")
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	return job.ConfigError(s.path(name), fmt.Sprintf("its output is not understood at byte %d: %v", at, strings.TrimPrefix(err.Error(), "json: ")), "see docs/scripts.md")
}

// plain returns what is wrong, without where that is.
func plain(err error) string {
	var e *job.Error
	if errors.As(err, &e) {
		return e.What
	}
	return err.Error()
}
