package parse

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// queue is a batch system.
var queue = BatchSystem{Name: "slurm", Flag: "sbatch-arg", Command: "sbatch", Elsewhere: []string{"-M", "--clusters"}, Choose: "name one elsewhere",
	Own: []string{"-N", "--nodes", "--time", "-a"}}

func ask(t *testing.T, kind job.Kind, settings ...string) (*job.Spec, error) {
	t.Helper()
	var a Ask
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		all := Options(queue)
		i := slices.IndexFunc(all, func(o Option) bool { return o.Name == name })
		if i < 0 {
			t.Fatalf("no option %q", name)
		}
		if err := all[i].Set(&a, "--"+name, value); err != nil {
			return nil, err
		}
	}
	s := job.New(kind, "/d")
	return s, a.Apply(s)
}

func TestAsk(t *testing.T) {
	s, err := ask(t, job.MapReduce, "nodes=2-8", "max-nodes=4", "time=2:00:00", "max-time=1:00:00", "cpus-per-task=3", "mem=100", "job-name=n", "on=LOCAL")
	if err != nil {
		t.Fatal(err)
	}
	need := job.Resources{CPUs: 3, Mem: 100 << 20}
	if s.Request.MinNodes != 2 || s.Request.MaxNodes != 4 || s.Request.MaxTime != time.Hour || s.Name != "n" || s.Request.On != "local" ||
		s.MapReduce.MapNeed != need || s.MapReduce.ReduceNeed != need || s.Request.IdleTimeout != time.Minute {
		t.Errorf("spec is %+v", s)
	}
	s, err = ask(t, job.Bag, "idle-timeout=0", "sbatch-arg=-x n1", "sbatch-arg=--mail-type=END", "exclusive=", "weight=2.5", "node-power=80:250.5", "node-power=gpu*=150:700", "energy-weight=0.001", "courtesy=1.5")
	if err != nil || s.Request.IdleTimeout != 0 || len(s.Request.BatchArgs) != 2 || !s.Request.Exclusive || s.Request.Weight != 2.5 ||
		job.PowerOf(s.Request.NodePower, "n1", "") != (job.Power{Idle: 80, Max: 250.5}) || job.PowerOf(s.Request.NodePower, "gpu7.site", "") != (job.Power{Idle: 150, Max: 700}) || s.Request.EnergyWeight != 0.001 || s.Request.Courtesy != 1.5 || s.Request.On != "auto" {
		t.Errorf("spec is %+v, %v", s, err)
	}
	for value, want := range map[string]job.Request{
		"2h30m": {Deadline: 150 * time.Minute}, "08:00": {Deadline: 8 * time.Minute}, "2026-11-29T08:00:00Z": {Due: job.Time(time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC).UnixNano())},
		"2026-11-29T08:00": {Due: job.Time(time.Date(2026, 11, 29, 8, 0, 0, 0, time.Local).UnixNano())},
	} {
		if s, err := ask(t, job.Bag, "deadline="+value); err != nil || s.Request.Deadline != want.Deadline || s.Request.Due != want.Due {
			t.Errorf("deadline %s is %v or %v, %v", value, s.Request.Deadline, s.Request.Due.Std(), err)
		}
	}
	if got := s.Request.BatchOnly(); !slices.Equal(got, []string{"exclusive", "sbatch-arg", "energy-weight", "courtesy"}) {
		t.Errorf("options for batch systems are %q", got)
	}
	for _, settings := range [][]string{
		{"nodes=4", "max-nodes=2"}, {"sbatch-arg=--time=1"}, {"sbatch-arg=-N4"}, {"sbatch-arg=-Mother"}, {"sbatch-arg=--clusters=other"}, {"sbatch-arg=-a 1-3"}, {"sbatch-arg=--nodes"}, {"scratch="},
		{"cpus-per-task=0"}, {"workers=x"}, {"exclusive=maybe"}, {"max-nodes=0"}, {"idle-timeout=soon"}, {"max-time=x"}, {"mem=much"}, {"sort-memory=-1"},
		{"deadline=0"}, {"deadline=noon"}, {"weight=0"}, {"weight=-1"}, {"weight=NaN"}, {"weight=inf"}, {"weight=much"}, {"weight=1001"}, {"node-power=80"}, {"node-power==1:2"}, {"node-power=[=1:2"}, {"node-power=:"}, {"node-power=90:80"}, {"node-power=0:0"},
		{"node-power=a:b"}, {"node-power=-1:5"}, {"node-power=NaN:NaN"}, {"energy-weight=-1"}, {"energy-weight=NaN"}, {"energy-weight=x"}, {"courtesy=-1"}, {"courtesy=11"}, {"courtesy=NaN"}, {"courtesy=two"},
	} {
		if s, err := ask(t, job.Bag, settings...); err == nil {
			t.Errorf("%q is taken: %+v", settings, s.Request)
		} else {
			var e *job.Error
			if !errors.As(err, &e) || !strings.HasPrefix(e.Where, "--") || e.Do == "" {
				t.Errorf("%q: error %v names no flag or advice", settings, err)
			}
		}
	}
}

func TestCombine(t *testing.T) {
	join := func(entries []job.Entry) string {
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
	b := &job.BagSpec{Command: []string{"echo", "{2}"}}
	one := []job.Entry{{"a"}}
	var s BagSources
	mustUserError(t, s.CheckEntries(b, one), "command")
	mustUserError(t, s.CheckEntries(b, nil), "")
	if job.CodeOf(s.CheckEntries(b, nil)) != job.CodeNoInput {
		t.Error("no entries are not told as missing input")
	}
	s.SkipEmpty = true
	if err := s.CheckEntries(b, nil); err != nil {
		t.Errorf("no entries with --no-run-if-empty: %v", err)
	}
	if got := s.Prune([]job.Entry{{""}, {"a"}, {" ", "\t"}, {"", "b"}}); len(got) != 2 {
		t.Errorf("pruned entries are %q", got)
	}
}

// TestOptionTable: each option has a way to be set, and what is read fits its place in the spec.
func TestOptionTable(t *testing.T) {
	values := map[string]string{"time": "1h", "limit": "1h", "size": "1M", "share": "5%", "power": "80:250", "progress": "cpu", "flag": "true", "machines": "a=2"}
	for line := range strings.Lines(optionsText) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if line[0] == '#' || row[4] == "own" {
			continue
		}
		value, known := values[row[4]]
		if !known {
			value = "5"
		}
		if kind, words, _ := strings.Cut(row[4], " "); kind == "words" {
			_, value, _ = strings.Cut(words, ",")
			value, _, _ = strings.Cut(value, ",")
		}
		for _, s := range []*job.Spec{job.New(job.Bag, "/d"), job.New(job.MapReduce, "/d")} {
			var a Ask
			if err := errors.Join(optionNamed(t, row[1]).Set(&a, "--"+row[1], value), a.Apply(s)); err != nil {
				t.Errorf("%s: %v", row[1], err)
			}
			if to := s.Field(row[5]); to.IsValid() && to.IsZero() {
				t.Errorf("%s: %q leaves %s as it was", row[1], value, row[5])
			}
		}
	}
	for option, says := range map[string][]string{
		"stdout": {job.DefaultStdout, strconv.Itoa(job.ManyTasks)}, "stderr": {job.DefaultStderr},
	} {
		for _, text := range says {
			if o := optionNamed(t, option); !strings.Contains(o.Usage, text) {
				t.Errorf("--%s does not say %q: %s", option, text, o.Usage)
			}
		}
	}
	if row := fmt.Sprintf("courtesy\t-\tX\tnumber 0 %d\t", job.MaxCourtesy); !strings.Contains(optionsText, row) {
		t.Errorf("there is no row %q", row)
	}
}
