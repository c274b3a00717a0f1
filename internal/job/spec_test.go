package job

import (
	"errors"
	"reflect"
	"slices"
	"strings"
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
		{[]string{"/usr/bin/gzip", "-9"}, "gzip"}, {[]string{"sort {} | uniq"}, "sort"}, {nil, "commands"}, {[]string{"{}", "x"}, "commands"},
	} {
		s := New(Bag, "/d")
		s.Bag.Command, s.Bag.Shell = BagCommand(tc.words, false)
		s.Normalize()
		if s.Name != tc.want {
			t.Errorf("a bag of %q is called %q, want %q", tc.words, s.Name, tc.want)
		}
	}
}

// TestValidateRefuses breaks one field after the other; the error names it.
func TestValidateRefuses(t *testing.T) {
	for where, breakIt := range map[string]func(*Spec){
		"folder":         func(s *Spec) { s.Dir = "rel" },
		"job-name":       func(s *Spec) { s.Name = "a\nb" },
		"kind":           func(s *Spec) { s.Bag, s.MapReduce = &BagSpec{}, &MapReduceSpec{} },
		"on":             func(s *Spec) { s.Request.On = "the moon" },
		"workers":        func(s *Spec) { s.Request.Workers = -1 },
		"nodes":          func(s *Spec) { s.Request.MinNodes, s.Request.MaxNodes = 4, 2 },
		"time":           func(s *Spec) { s.Request.MaxTime = -1 },
		"idle-timeout":   func(s *Spec) { s.Request.IdleTimeout = -1 },
		"sort-memory":    func(s *Spec) { s.Request.SortMemory = 512 },
		"scratch":        func(s *Spec) { s.Request.Scratch = "rel" },
		"partition":      func(s *Spec) { s.Request.On, s.Request.Partition = "local", "short" },
		"sbatch-arg":     func(s *Spec) { s.Request.On, s.Request.BatchArgs = "local", []string{"-x"} },
		"command":        func(s *Spec) { s.Bag.Command = []string{"a", "b\x00"} },
		"cpus-per-task":  func(s *Spec) { s.Bag.Need.CPUs = 0 },
		"mem":            func(s *Spec) { s.Bag.Need.Mem = -1 },
		"time-limit":     func(s *Spec) { s.Bag.TimeLimit = -1 },
		"retries":        func(s *Spec) { s.Bag.Retries = -1 },
		"max-fails":      func(s *Spec) { s.Bag.MaxFails = -2 },
		"throttle":       func(s *Spec) { s.Bag.Throttle = -1 },
		"stdout":         func(s *Spec) { s.Bag.Stdout = "/d/{job}.out" },
		"stderr":         func(s *Spec) { s.Bag.Stderr = s.Bag.Stdout },
		"joblog":         func(s *Spec) { s.Bag.Joblog = "log" },
		"environment":    func(s *Spec) { s.Bag.Env = []string{"x"} },
		"input":          func(s *Spec) { s.MapReduce.Inputs = nil },
		"output":         func(s *Spec) { s.MapReduce.Output = "" },
		"inputformat":    func(s *Spec) { s.MapReduce.InputFormat = "SequenceFileInputFormat" },
		"mapper":         func(s *Spec) { s.MapReduce.Mapper = Program{Native: NativeAggregate} },
		"combiner":       func(s *Spec) { s.MapReduce.Combiner = &Program{} },
		"reducer":        func(s *Spec) { s.MapReduce.Reducer.Native = "other" },
		"numReduceTasks": func(s *Spec) { s.MapReduce.Reduces = -2 },
		"files":          func(s *Spec) { s.MapReduce.Files[0].Name = "../x" },
		"compress":       func(s *Spec) { s.MapReduce.Compress = "lzo" },
		"partitioner":    func(s *Spec) { s.MapReduce.Partitioner = "total" },

		"mapreduce.map.maxattempts":                     func(s *Spec) { s.MapReduce.MapAttempts = -1 },
		"mapreduce.reduce.maxattempts":                  func(s *Spec) { s.MapReduce.ReduceAttempts = -1 },
		"mapreduce.task.timeout":                        func(s *Spec) { s.MapReduce.TaskTimeout = -1 },
		"mapreduce.job.reduce.slowstart.completedmaps":  func(s *Spec) { s.MapReduce.SlowStart = 1.5 },
		"mapreduce.input.lineinputformat.linespermap":   func(s *Spec) { s.MapReduce.LinesPerMap = -1 },
		"mapreduce.input.fileinputformat.split.minsize": func(s *Spec) { s.MapReduce.MinSplit = -1 },
		"mapreduce.input.fileinputformat.split.maxsize": func(s *Spec) { s.MapReduce.MaxSplit = -1 },
		"mapreduce.job.maps":                            func(s *Spec) { s.MapReduce.MapsHint = -1 },
		"stream.map.output.field.separator":             func(s *Spec) { s.MapReduce.MapOutputSeparator = "\n" },
		"stream.num.map.output.key.fields":              func(s *Spec) { s.MapReduce.MapOutputKeyFields = -1 },
		"num.key.fields.for.partition":                  func(s *Spec) { s.MapReduce.PartitionFields = -1 },
		"mapreduce.job.output.key.comparator.class":     func(s *Spec) { s.MapReduce.Comparator = "text" },
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

func ask(t *testing.T, kind Kind, settings ...string) (*Spec, error) {
	t.Helper()
	var a Ask
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		i := slices.IndexFunc(Options(), func(o Option) bool { return o.Name == name })
		if i < 0 {
			t.Fatalf("no option %q", name)
		}
		if err := Options()[i].Set(&a, "--"+name, value); err != nil {
			return nil, err
		}
	}
	s := New(kind, "/d")
	return s, a.Apply(s)
}

func TestAsk(t *testing.T) {
	s, err := ask(t, MapReduce, "nodes=2-8", "max-nodes=4", "time=2:00:00", "max-time=1:00:00", "cpus-per-task=3", "mem=100", "job-name=n", "on=LOCAL")
	if err != nil {
		t.Fatal(err)
	}
	need := Resources{CPUs: 3, Mem: 100 << 20}
	if s.Request.MinNodes != 2 || s.Request.MaxNodes != 4 || s.Request.MaxTime != time.Hour || s.Name != "n" || s.Request.On != "local" ||
		s.MapReduce.MapNeed != need || s.MapReduce.ReduceNeed != need || s.Request.IdleTimeout != time.Minute {
		t.Errorf("spec is %+v", s)
	}
	s, err = ask(t, Bag, "idle-timeout=0", "sbatch-arg=-x n1", "sbatch-arg=--mail-type=END", "exclusive=")
	if err != nil || s.Request.IdleTimeout != 0 || len(s.Request.BatchArgs) != 2 || !s.Request.Exclusive || s.Request.On != "auto" {
		t.Errorf("spec is %+v, %v", s, err)
	}
	if got := s.Request.BatchOnly(); !slices.Equal(got, []string{"exclusive", "sbatch-arg"}) {
		t.Errorf("options for batch systems are %q", got)
	}
	for _, settings := range [][]string{
		{"nodes=4", "max-nodes=2"}, {"sbatch-arg=--time=1"}, {"sbatch-arg=-N4"}, {"sbatch-arg=-a 1-3"}, {"sbatch-arg=--nodes"}, {"scratch="},
		{"cpus-per-task=0"}, {"workers=x"}, {"exclusive=maybe"}, {"max-nodes=0"}, {"idle-timeout=soon"}, {"max-time=x"}, {"mem=much"}, {"sort-memory=-1"},
	} {
		if s, err := ask(t, Bag, settings...); err == nil {
			t.Errorf("%q is taken: %+v", settings, s.Request)
		} else {
			var e *Error
			if !errors.As(err, &e) || !strings.HasPrefix(e.Where, "--") || e.Do == "" {
				t.Errorf("%q: error %v names no flag or advice", settings, err)
			}
		}
	}
}

func TestCombine(t *testing.T) {
	join := func(entries []Entry) string {
		var rows []string
		for _, e := range entries {
			rows = append(rows, strings.Join(e, "-"))
		}
		return strings.Join(rows, " ")
	}
	for words, want := range map[string]string{
		"x ::: a b":                        "a b",
		"x ::: a b ::: 1 2":                "a-1 a-2 b-1 b-2",
		"x ::: a b :::+ 1 2 3":             "a-1 b-2",
		"x ::: a b :::+ 1 2 ::: X Y":       "a-1-X a-1-Y b-2-X b-2-Y",
		"x ::: X Y ::: a b :::+ 1 2":       "X-a-1 X-b-2 Y-a-1 Y-b-2",
		"x :::":                            "",
		"x ::: a ::: ":                     "",
		"x ::: a b :::+ 1 2 :::+ i ii iii": "a-1-i b-2-ii",
	} {
		command, lists, err := SplitLists(strings.Fields(words))
		if err != nil || len(command) != 1 {
			t.Fatalf("SplitLists(%q) = %q, %v", words, command, err)
		}
		entries, err := Combine(lists)
		if got := join(entries); err != nil || got != want {
			t.Errorf("%q makes %q, %v, want %q", words, got, err, want)
		}
	}
	_, lists, err := SplitLists([]string{"x", "::::", "f", "-", "::::+", "g"})
	if want := []List{{File: "f"}, {File: "-"}, {File: "g", Linked: true}}; err != nil || !reflect.DeepEqual(lists, want) {
		t.Errorf("files are %+v, %v", lists, err)
	}
	_, _, err = SplitLists([]string{"x", ":::+", "a"})
	mustUserError(t, err, ":::+")
	many := List{Values: make([]string, 10_000)}
	_, err = Combine([]List{many, many})
	mustUserError(t, err, ":::")
}

// TestCombineProperty sets the product beside counting in mixed radix.
func TestCombineProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lists []List
		total := 1
		for range rapid.IntRange(1, 4).Draw(t, "lists") {
			l := List{Values: rapid.SliceOfN(rapid.StringMatching(`[a-c]`), 0, 4).Draw(t, "values")}
			total *= len(l.Values)
			lists = append(lists, l)
		}
		entries, err := Combine(lists)
		if err != nil || len(entries) != total {
			t.Fatalf("%d entries, %v, want %d", len(entries), err, total)
		}
		for n, e := range entries {
			for i := len(lists) - 1; i >= 0; i-- {
				if want := lists[i].Values[n%len(lists[i].Values)]; e[i] != want {
					t.Fatalf("entry %q differs in column %d, want %q", e, i, want)
				}
				n /= len(lists[i].Values)
			}
		}
	})
}

func TestSplitLines(t *testing.T) {
	for text, want := range map[string][]string{
		"": {}, "a": {"a"}, "a\n": {"a"}, "a\nb": {"a", "b"}, "\n": {""}, "a\n\nb\n": {"a", "", "b"}, "a\r\nb\r\n": {"a", "b"}, "a\rb\n": {"a\rb"},
	} {
		if got := SplitLines(text, false); !slices.Equal(got, want) {
			t.Errorf("SplitLines(%q) = %q, want %q", text, got, want)
		}
	}
	if got := SplitLines("a\nb\x00c\r\x00", true); !slices.Equal(got, []string{"a\nb", "c\r"}) {
		t.Errorf("NUL-separated entries are %q", got)
	}
}

func TestCheckEntries(t *testing.T) {
	b := &BagSpec{Command: []string{"echo", "{2}"}}
	one := []Entry{{"a"}}
	var s BagSources
	mustUserError(t, s.CheckEntries(b, one), "command")
	mustUserError(t, s.CheckEntries(b, nil), "")
	if CodeOf(s.CheckEntries(b, nil)) != CodeNoInput {
		t.Error("no entries are not told as missing input")
	}
	s.SkipEmpty = true
	if err := s.CheckEntries(b, nil); err != nil {
		t.Errorf("no entries with --no-run-if-empty: %v", err)
	}
	if got := s.Prune([]Entry{{""}, {"a"}, {" ", "\t"}, {"", "b"}}); len(got) != 2 {
		t.Errorf("pruned entries are %q", got)
	}
}
