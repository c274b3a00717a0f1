package job

import (
	"errors"
	"testing"
)

// mustUserError checks that err is a User error with that Where.
func mustUserError(t *testing.T, err error, where string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is no *Error", err)
	}
	if e.Class != User || e.Where != where || e.What == "" || e.Do == "" {
		t.Errorf("error %+v lacks class, place, what or advice", e)
	}
}

func TestParseID(t *testing.T) {
	for _, s := range []string{"bag-1", "mr-1234567890"} {
		if id, err := ParseID("argument", s); err != nil || string(id) != s {
			t.Errorf("ParseID(%q) = %q, %v", s, id, err)
		}
	}
	for _, s := range []string{"", "bag-", "bag-0", "bag-01", "mr-12345678901", "../bag-1", "bag-1/..", "bag-1\n", "job-1", "17"} {
		_, err := ParseID("argument", s)
		mustUserError(t, err, "argument")
	}
	if got := TaskName(MapTask, 12) + " " + TaskName(ReduceTask, 3); got != "m-00012 r-00003" {
		t.Errorf("task names are %q", got)
	}
}
