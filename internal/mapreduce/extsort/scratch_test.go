package extsort

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"berth/internal/core/job"
)

// A full disk has its own message.
func TestScratchError(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		err := ScratchError("/scratch/x/run-1", &os.PathError{Op: "write", Path: "/scratch/x/run-1", Err: cause})
		if job.ClassOf(err) != job.Fatal || job.CodeOf(err) != job.CodeIO || !strings.HasPrefix(err.Error(), "no space left in scratch folder /scratch/x: ") {
			t.Errorf("%v: %v", cause, err)
		}
	}
	if err := ScratchError("/x", syscall.EIO); job.ClassOf(err) != job.Transient {
		t.Errorf("%v", err)
	}
}
