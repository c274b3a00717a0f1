package job

import "testing"

func TestUses(t *testing.T) {
	u := Uses("").With("matlab", 1).With("db", 2).With("db", 20)
	if u != "db=20,matlab=1" || u.Of("db") != 20 || u.Of("x") != 0 {
		t.Errorf("uses are %q, %d of db, %d of x", u, u.Of("db"), u.Of("x"))
	}
	for _, c := range []struct {
		limits map[string]int
		most   int
	}{{map[string]int{"matlab": 7, "db": 100}, 5}, {map[string]int{"matlab": 3, "db": 100}, 3}, {map[string]int{"db": 100}, 1}} {
		if got := u.Most(c.limits); got != c.most {
			t.Errorf("with the limits %v %d tasks run at once, want %d", c.limits, got, c.most)
		}
	}
	if got := Uses("").Most(nil); got != 0 {
		t.Errorf("tasks that use nothing: %d at once", got)
	}
	bag := Needs{CPUs: 1, Uses: "db=1"}
	for own, want := range map[Uses]Uses{"": "db=1", NoUses: "", "x=2": "x=2"} {
		if got := (Needs{Uses: own}).In(bag).Uses; got != want {
			t.Errorf("a task that says %q uses %q, want %q", own, got, want)
		}
	}
}
