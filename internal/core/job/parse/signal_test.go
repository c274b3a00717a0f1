package parse

import (
	"testing"
	"time"

	"berth/internal/core/job"
)

func TestSignal(t *testing.T) {
	for _, tt := range []struct {
		value  string
		number int
		lead   time.Duration
	}{
		{"USR1@120s", 10, 2 * time.Minute},
		{"sigusr2@90", 12, 90 * time.Second},
		{"10@1:30", 10, 90 * time.Second},
		{"TERM", 15, time.Minute},
	} {
		a, s := &Ask{}, job.New(job.Bag, "/d")
		if err := setSignal(a, "--signal", tt.value); err != nil {
			t.Fatal(err)
		}
		if err := a.Apply(s); err != nil || s.Bag.Signal != tt.number || s.Bag.SignalLead != tt.lead {
			t.Errorf("%s: signal %d, %v before (%v)", tt.value, s.Bag.Signal, s.Bag.SignalLead, err)
		}
	}
	for _, bad := range []string{"", "KILL@5", "B:USR1@60", "9", "USR1@", "USR1@soon", "USR1@-5"} {
		if err := setSignal(&Ask{}, "--signal", bad); job.ClassOf(err) != job.User {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
