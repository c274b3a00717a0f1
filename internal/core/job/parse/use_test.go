package parse

import (
	"testing"

	"berth/internal/core/job"
)

// TestUse: several values of --use are all taken, the last one of a name, and those of a resume or of berth set replace what the job has.
func TestUse(t *testing.T) {
	options := OptionsOf("bag")
	s := job.New(job.Bag, "/d")
	for _, c := range []struct {
		settings []string
		want     job.Uses
	}{
		{[]string{"use=matlab=1", "use=db=2,x=3"}, "db=2,matlab=1,x=3"}, {[]string{"use=db=5,x=1", "use=x=2"}, "db=5,x=2"}, {[]string{"use=db=5"}, "db=5"}, {[]string{"use=none"}, ""},
	} {
		if err := Change(s, options, c.settings); err != nil || s.Bag.Uses != c.want {
			t.Errorf("%v: uses are %q, %v; want %q", c.settings, s.Bag.Uses, err, c.want)
		}
	}
	for _, wrong := range []string{"use=matlab", "use=matlab=0", "use=matlab=x", "use=4=4", "use=a b=1", "use=a=1,", "use=a=-1"} {
		if err := Change(job.New(job.Bag, "/d"), options, []string{wrong}); err == nil {
			t.Errorf("%s is accepted", wrong)
		}
	}
}
