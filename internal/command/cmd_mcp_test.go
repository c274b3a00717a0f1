package command

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestShort: of what a command prints the beginning is kept and the rest counted. A call that was stopped writes no more. Nor is an error longer.
func TestShort(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	s := short{stopped: ctx.Err}
	if n, err := s.Write([]byte(strings.Repeat("x", mostText+3))); n != mostText+3 || err != nil || len(s.text) != mostText || s.more != 3 {
		t.Errorf("%d bytes written, %d kept, %d further ones: %v", n, len(s.text), s.more, err)
	}
	stop()
	if _, err := s.Write([]byte("x")); err == nil {
		t.Error("a call that was stopped prints on")
	}
	if r := refused(errors.New(strings.Repeat("x", 2*mostText))); len(r.Content[0].Text) > mostText+100 {
		t.Errorf("an error has %d bytes", len(r.Content[0].Text))
	}
}
