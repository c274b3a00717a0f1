package parse

import (
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
)

const gib = 1 << 30

func TestGrow(t *testing.T) {
	for s, want := range map[string]Grow[int64]{
		"4G": {First: 4 * gib, Most: 4 * gib}, "4G..64G": {First: 4 * gib, Most: 64 * gib}, "512..1.5G": {First: 512 << 20, Most: 3 * gib / 2},
		"4G .. 64G": {First: 4 * gib, Most: 64 * gib}, "4G..4G": {First: 4 * gib, Most: 4 * gib},
		"auto": {Auto: true}, "AUTO..64G": {Most: 64 * gib, Auto: true},
	} {
		if got, err := GrowMem("--mem", s); err != nil || got != want {
			t.Errorf("GrowMem(%q) = %+v, %v, want %+v", s, got, err, want)
		}
	}
	for s, want := range map[string]Grow[time.Duration]{
		"10": {First: 10 * time.Minute, Most: 10 * time.Minute}, "10m..2h": {First: 10 * time.Minute, Most: 2 * time.Hour},
		"unlimited": {}, "00:10:00..1-0": {First: 10 * time.Minute, Most: 24 * time.Hour},
	} {
		if got, err := GrowTime("--time-limit", s); err != nil || got != want {
			t.Errorf("GrowTime(%q) = %+v, %v, want %+v", s, got, err, want)
		}
	}
	for _, s := range []string{"64G..4G", "..4G", "4G..", "4G..8G..16G", "4G..auto", "0..4G", "auto..0", "auto..", "auto..auto", "automatic", "1...4G"} {
		if got, err := GrowMem("--mem", s); err == nil {
			t.Errorf("GrowMem(%q) = %+v, want an error", s, got)
		} else {
			mustUserError(t, err, "--mem")
		}
	}
	for _, s := range []string{"2h..10m", "auto..2h", "10m..unlimited", "0..2h"} {
		if got, err := GrowTime("--time-limit", s); err == nil {
			t.Errorf("GrowTime(%q) = %+v, want an error", s, got)
		} else {
			mustUserError(t, err, "--time-limit")
		}
	}
}

// TestGrowApplies checks what options write into a spec: a range replaces what an earlier resume said, a plain size never grows, and
// a MapReduce job has neither.
func TestGrowApplies(t *testing.T) {
	s := job.New(job.Bag, "/home/x")
	for _, c := range []struct {
		mem, limit string
		want       job.BagSpec
	}{
		{"4G..64G", "10m..2h", job.BagSpec{Need: job.Resources{Mem: 4 * gib}, MaxMem: 64 * gib, TimeLimit: 10 * time.Minute, MaxTimeLimit: 2 * time.Hour}},
		{"auto..8G", "1h", job.BagSpec{MaxMem: 8 * gib, AutoMem: true, TimeLimit: time.Hour}},
		{"auto", "unlimited", job.BagSpec{AutoMem: true}},
		{"2G", "5", job.BagSpec{Need: job.Resources{Mem: 2 * gib}, TimeLimit: 5 * time.Minute}},
	} {
		a := &Ask{}
		if err := optionNamed(t, "mem").Set(a, "--mem", c.mem); err != nil {
			t.Fatal(err)
		}
		if err := optionNamed(t, "time-limit").Set(a, "--time-limit", c.limit); err != nil {
			t.Fatal(err)
		}
		if err := a.Apply(s); err != nil {
			t.Fatal(err)
		}
		b := s.Bag
		if b.Need.Mem != c.want.Need.Mem || b.MaxMem != c.want.MaxMem || b.AutoMem != c.want.AutoMem || b.TimeLimit != c.want.TimeLimit || b.MaxTimeLimit != c.want.MaxTimeLimit {
			t.Errorf("--mem %s --time-limit %s: %+v", c.mem, c.limit, b)
		}
	}
	m := job.New(job.MapReduce, "/home/x")
	for _, mem := range []string{"auto", "1G..2G"} {
		var a Ask
		if err := optionNamed(t, "mem").Set(&a, "--mem", mem); err != nil {
			t.Fatal(err)
		}
		mustUserError(t, a.Apply(m), "--mem")
	}
}

func optionNamed(t *testing.T, name string) *Option {
	t.Helper()
	for _, o := range append(Options(), OptionsOf("entry", "bag", "resume")...) {
		if o.Name == name {
			return &o
		}
	}
	t.Fatalf("no option %s", name)
	return nil
}

// FuzzGrow: any text is an error of the user in one line, or amounts of which the second is not below the first.
func FuzzGrow(f *testing.F) {
	for _, s := range []string{"4G..64G", "auto..", "10m..2h", "1...2", "..", "0..0", "7E..8E", "-1..1", "1e9..2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g, err := GrowMem("--x", s)
		checkGrow(t, s, g, err)
		d, err := GrowTime("--x", s)
		checkGrow(t, s, d, err)
	})
}

func checkGrow[T ~int64](t *testing.T, s string, g Grow[T], err error) {
	switch {
	case err != nil && (job.ClassOf(err) != job.User || strings.Contains(err.Error(), "\n")):
		t.Errorf("%q: %v", s, err)
	case err != nil:
	case g.First < 0 || g.Auto && (g.First != 0 || g.Most < 0) || !g.Auto && g.Most < g.First:
		t.Errorf("%q: %+v", s, g)
	}
}

// TestGrowInColumns: columns of entries have ranges as the options have them, and a task's own memory is never chosen.
func TestGrowInColumns(t *testing.T) {
	b := &job.BagSpec{NeedsFrom: &job.NeedsFrom{Mem: 1, Time: 2}}
	n, err := OwnNeeds(b, job.Entry{"4G..64G", "10m..2h"})
	if want := (job.Needs{Mem: 4 * gib, MaxMem: 64 * gib, TimeLimit: 10 * time.Minute, MaxTimeLimit: 2 * time.Hour}); err != nil || n != want {
		t.Errorf("%+v, %v", n, err)
	}
	_, err = OwnNeeds(b, job.Entry{"auto", ""})
	mustUserError(t, err, "mem-from")
}
