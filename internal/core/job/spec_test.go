package job

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// soundBag and soundMapReduce are specs that pass every check.
func soundBag() *Spec {
	s := New(Bag, "/home/u")
	s.Bag.Command = []string{"gzip", "{}"}
	s.Normalize()
	return s
}

func soundMapReduce() *Spec {
	s := New(MapReduce, "/home/u")
	s.MapReduce.Inputs = []string{"in"}
	s.MapReduce.Output = "out"
	s.MapReduce.Mapper = Program{Args: []string{"awk", "-f", "map.awk"}}
	s.MapReduce.Files = []ShipFile{{Path: "map.awk", Name: "map.awk"}}
	s.Normalize()
	return s
}

func TestNormalizeBag(t *testing.T) {
	s := soundBag()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	if s.Name != "gzip" || s.Bag.Need.CPUs != 1 || s.Bag.MaxFails != -1 || s.Bag.Retries != 0 || s.Request.IdleTimeout != time.Minute {
		t.Errorf("defaults are %+v %+v", s, s.Bag)
	}
	if s.Bag.Stdout != "/home/u/{job}/{task}.stdout" || s.Bag.Stderr != "/home/u/{job}/{task}.stderr" {
		t.Errorf("templates are %q and %q", s.Bag.Stdout, s.Bag.Stderr)
	}
}

func TestNormalizeMapReduce(t *testing.T) {
	s := soundMapReduce()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	m := s.MapReduce
	if s.Name != "map.awk+identity" || m.Inputs[0] != "/home/u/in" || m.Output != "/home/u/out" || m.Files[0].Path != "/home/u/map.awk" {
		t.Errorf("name and paths are %q %q %q %+v", s.Name, m.Inputs, m.Output, m.Files)
	}
	if m.Reduces != -1 || m.MapAttempts != 4 || m.ReduceAttempts != 4 || m.SlowStart != 0.05 || m.TaskTimeout != 10*time.Minute ||
		!m.NonZeroExitIsFail || m.MapOutputSeparator != "\t" || m.MapOutputKeyFields != 1 || m.Partitioner != "hash" || m.Comparator != "bytes" {
		t.Errorf("defaults are %+v", m)
	}
	m.Reduces = 0
	m.Combiner = &Program{Native: NativeIdentity}
	s.Normalize()
	if m.Reducer != nil || m.Combiner != nil {
		t.Error("a map-only job keeps its reducer or combiner")
	}
}

func TestNormalizeTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New(rapid.SampledFrom([]Kind{Bag, MapReduce}).Draw(t, "kind"), "/d")
		path := rapid.SampledFrom([]string{"", "a", "/a", "../a", "a/../b", "none", "*.txt"})
		s.Request.Scratch = path.Draw(t, "scratch")
		if s.Bag != nil {
			s.Bag.Command = []string{rapid.StringMatching(`[a-z/{} ]{1,8}`).Draw(t, "command")}
			s.Bag.Stdout, s.Bag.Joblog = path.Draw(t, "stdout"), path.Draw(t, "joblog")
		} else {
			s.MapReduce.Inputs, s.MapReduce.Output = []string{path.Draw(t, "input")}, path.Draw(t, "output")
			s.MapReduce.Reduces = rapid.IntRange(-1, 1).Draw(t, "reduces")
		}
		s.Normalize()
		before := *s
		if s.Bag != nil {
			b := *s.Bag
			before.Bag = &b
		} else {
			m := *s.MapReduce
			m.Inputs = slices.Clone(m.Inputs)
			before.MapReduce = &m
		}
		s.Normalize()
		if !reflect.DeepEqual(&before, s) {
			t.Fatalf("the second time it became\n%+v", s)
		}
	})
}

func TestJobNames(t *testing.T) {
	for _, tc := range []struct {
		words []string
		want  string
	}{
		{[]string{"/usr/bin/gzip", "-9"}, "gzip"}, {[]string{"sort {} | uniq"}, "sort"}, {[]string{"{}", "x"}, "commands"},
	} {
		s := New(Bag, "/d")
		if err := s.Bag.SetCommand(tc.words, false); err != nil {
			t.Fatal(err)
		}
		s.Normalize()
		if s.Name != tc.want {
			t.Errorf("a bag of %q is called %q, want %q", tc.words, s.Name, tc.want)
		}
	}
}

// TestValidateRefuses breaks one field after the other; the error names it.
func TestValidateRefuses(t *testing.T) {
	for where, breakIt := range map[string]func(*Spec){
		"folder":      func(s *Spec) { s.Dir = "rel" },
		"job-name":    func(s *Spec) { s.Name = "a\nb" },
		"on":          func(s *Spec) { s.Request.On = "the moon" },
		"sort-memory": func(s *Spec) { s.Request.SortMemory = 512 },
		"scratch":     func(s *Spec) { s.Request.Scratch = "rel" },
		"partition":   func(s *Spec) { s.Request.On, s.Request.Partition = "local", "short" },
		"sbatch-arg": func(s *Spec) {
			s.Request.On, s.Request.BatchArgs, s.Request.ArgsFlag = "local", []string{"-x"}, "sbatch-arg"
		},
		"command":     func(s *Spec) { s.Bag.Command = []string{"a", "b\x00"} },
		"mem":         func(s *Spec) { s.Bag.Need.Mem = 2 * maxMem },
		"stdout":      func(s *Spec) { s.Bag.Stdout = "/d/{job}.out" },
		"stderr":      func(s *Spec) { s.Bag.Stderr = s.Bag.Stdout },
		"joblog":      func(s *Spec) { s.Bag.Joblog = "log" },
		"environment": func(s *Spec) { s.Bag.Env = []string{"x"} },
		"input":       func(s *Spec) { s.MapReduce.Inputs = nil },
		"output":      func(s *Spec) { s.MapReduce.Output = "" },
		"mapper":      func(s *Spec) { s.MapReduce.Mapper = Program{Native: NativeAggregate} },
		"combiner":    func(s *Spec) { s.MapReduce.Combiner = &Program{} },
		"reducer":     func(s *Spec) { s.MapReduce.Reducer.Native = "other" },
		"files":       func(s *Spec) { s.MapReduce.Files[0].Name = "../x" },
	} {
		t.Run(where, func(t *testing.T) {
			refused := 0
			for _, s := range []*Spec{soundBag(), soundMapReduce()} {
				if !applies(s, breakIt) {
					continue
				}
				var e *Error
				err := s.Validate()
				if !errors.As(err, &e) || e.Where != where || e.Class != User || e.Code != CodeConfig {
					t.Errorf("error is %v, want one that names %s", err, where)
				}
				refused++
			}
			if refused == 0 {
				t.Error("no kind of job has the field")
			}
		})
	}
}

// applies breaks a spec; false if the job's kind has no such field.
func applies(s *Spec, breakIt func(*Spec)) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	breakIt(s)
	return true
}
