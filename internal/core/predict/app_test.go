package predict

import (
	"strings"
	"testing"

	"berth/internal/core/job"
)

func bagSpec(dir string, command ...string) *job.Spec {
	return &job.Spec{Kind: job.Bag, Dir: dir, Bag: &job.BagSpec{Command: command}}
}

// gangSpec is the bag of TestApplicationOfBag with tasks of so many ranks.
func gangSpec(ranks int) *job.Spec {
	s := bagSpec("/a", "/opt/sim", "--n", "{}")
	s.Bag.Ranks = ranks
	return s
}

func mrSpec(change func(*job.Spec)) *job.Spec {
	s := &job.Spec{Kind: job.MapReduce, Dir: "/home/u/a", Name: "n", MapReduce: &job.MapReduceSpec{
		Inputs: []string{"/in"}, Output: "/out", Reduces: 2,
		Mapper:  job.Program{Args: []string{"awk", "-f", "map.awk"}},
		Reducer: &job.Program{Args: []string{"python3", "/opt/reduce.py"}},
		Files:   []job.ShipFile{{Path: "/home/u/a/map.awk", Name: "map.awk"}, {Path: "/data/stop.txt", Name: "stop.txt"}},
	}}
	change(s)
	return s
}

func TestApplicationLabel(t *testing.T) {
	for _, tt := range []struct {
		spec *job.Spec
		want string
	}{
		{bagSpec("/d", "python3", "/x/train.py", "{}"), "train.py"},
		{bagSpec("/d", "/bin/true"), "true"},
		{bagSpec("/d", "grep foo {} | wc -l"), "grep"},
		{bagSpec("/d", "./run sim/{}"), "run"},
		{bagSpec("/d", "日本"), ""},
		{bagSpec("/d"), "none"},
		{mrSpec(func(*job.Spec) {}), "map.awk+reduce.py"},
		{mrSpec(func(s *job.Spec) { s.MapReduce.Reducer = nil }), "map.awk"},
		{mrSpec(func(s *job.Spec) { s.MapReduce.Mapper = job.Program{Native: "identity"} }), "identity+reduce.py"},
	} {
		app := Application(tt.spec)
		if got := Label(app); got != tt.want && tt.want != "" {
			t.Errorf("%q: label %q, want %q", app, got, tt.want)
		}
		if strings.ContainsAny(app, " /\n") {
			t.Errorf("%q is no plain word", app)
		}
	}
}

// TestApplicationOfBag: same command, same application; the folder counts only for
// a command that may name a file in it.
func TestApplicationOfBag(t *testing.T) {
	base := Application(bagSpec("/a", "/opt/sim", "--n", "{}"))
	for _, tt := range []struct {
		spec *job.Spec
		same bool
	}{
		{bagSpec("/b", "/opt/sim", "--n", "{}"), true},
		{gangSpec(1), true},
		{gangSpec(16), false},
		{bagSpec("/a", "/opt/sim", "--m", "{}"), false},
		{bagSpec("/a", "/opt/sim --n", "{}"), false},
	} {
		if got := Application(tt.spec) == base; got != tt.same {
			t.Errorf("%v in %s: same = %v", tt.spec.Bag.Command, tt.spec.Dir, got)
		}
	}
	if Application(bagSpec("/a", "./sim", "{}")) == Application(bagSpec("/b", "./sim", "{}")) {
		t.Error("./sim of two folders is one application")
	}
	if Application(bagSpec("/a", "python3 sim.py {}")) == Application(bagSpec("/b", "python3 sim.py {}")) {
		t.Error("sim.py of two folders is one application")
	}
}

// TestApplicationIsSpelledInSeveralWays: how a script is called plays no part, as long as it is called with the same values.
func TestApplicationIsSpelledInSeveralWays(t *testing.T) {
	spec := func(command string) *job.Spec { return bagSpec("/a", strings.Fields(command)...) }
	base := Application(spec("./fit.py {}"))
	for _, command := range []string{"fit.py {}", "python3 fit.py {}", "python3.11 -u -W ignore ./fit.py {}", "/usr/bin/env A=1 python fit.py {}",
		"/a/fit.py {}", "fit.py {1} {2}", "./fit.py {2} {1} {-1}"} {
		if app := Application(spec(command)); app != base {
			t.Errorf("%s is %s, want %s", command, app, base)
		}
		if ApplicationByPath(spec(command)) == ApplicationByPath(spec("./fit.py {}")) {
			t.Errorf("%s is not found under its old name", command)
		}
	}
	for _, command := range []string{"./fit.py -n {}", "/b/fit.py {}", "sub/fit.py {}", "fit {}", "python3 -m fit.py {}", "./fit.py {.}", "{} ./fit.py"} {
		if Application(spec(command)) == base {
			t.Errorf("%s is the same application", command)
		}
	}
	if Application(bagSpec("/a", "python3 fit.py {} > {.}.out")) != Application(bagSpec("/a", "./fit.py {} > {.}.out")) {
		t.Error("the spelling of a shell command plays a part")
	}
	if Application(bagSpec("/a", "env", "gzip", "{}")) != Application(bagSpec("/b", "gzip", "{}")) {
		t.Error("env plays a part")
	}
}

// TestApplicationOfStage: where a job of stages has its output, and so the folder of its parts, plays no part.
func TestApplicationOfStage(t *testing.T) {
	stage := func(name, folder, digest string) string {
		s := bagSpec("/a", "/bin/sh", folder+"/"+name+".sh", folder+"/in/{}", digest)
		s.Stage = &job.Stage{Name: name, Folder: folder}
		return Application(s)
	}
	base := stage("operation", "/a/one.parts", "0123abcd")
	if Label(base) != "operation.sh" || stage("operation", "two.parts", "0123abcd") != base {
		t.Errorf("%s and %s are one application with another output", base, stage("operation", "two.parts", "0123abcd"))
	}
	for _, other := range []string{stage("merge", "/a/one.parts", "0123abcd"), stage("operation", "/a/one.parts", "4567abcd")} {
		if other == base {
			t.Error("another stage, or other scripts, are the same application")
		}
	}
}

func TestApplicationOfMapReduce(t *testing.T) {
	base := Application(mrSpec(func(*job.Spec) {}))
	for name, tt := range map[string]struct {
		change func(*job.Spec)
		same   bool
	}{
		"other data":         {func(s *job.Spec) { s.MapReduce.Inputs, s.MapReduce.Output = []string{"/x"}, "/y" }, true},
		"other name":         {func(s *job.Spec) { s.Name, s.ID = "m", "mapreduce-9" }, true},
		"other size":         {func(s *job.Spec) { s.MapReduce.Reduces, s.MapReduce.MaxSplit = 9, 1<<20 }, true},
		"other folder":       {func(s *job.Spec) { s.Dir = "/home/u/run2" }, true},
		"another script":     {func(s *job.Spec) { s.MapReduce.Files[0].Path = "/home/u/b/map.awk" }, false},
		"other shipped data": {func(s *job.Spec) { s.MapReduce.Files[1].Path = "/data/stop2.txt" }, true},
		"other mapper":       {func(s *job.Spec) { s.MapReduce.Mapper.Args[0] = "gawk" }, false},
		"a combiner":         {func(s *job.Spec) { s.MapReduce.Combiner = s.MapReduce.Reducer }, false},
		"no reducer":         {func(s *job.Spec) { s.MapReduce.Reducer = nil }, false},
		"more key fields":    {func(s *job.Spec) { s.MapReduce.MapOutputKeyFields = 2 }, false},
		"another order":      {func(s *job.Spec) { s.MapReduce.ComparatorOptions = "-n" }, false},
	} {
		if got := Application(mrSpec(tt.change)) == base; got != tt.same {
			t.Errorf("%s: same = %v", name, got)
		}
	}
}

// TestApplicationByPath: the content and name of a shipped file make the application, wherever it is shipped from; its path makes the place, which stays when
// the file is edited.
func TestApplicationByPath(t *testing.T) {
	with := func(path, name, sum string) *job.Spec {
		return mrSpec(func(s *job.Spec) {
			s.MapReduce.Mapper.Args, s.MapReduce.Reducer = []string{"awk", "-f", name}, nil
			s.MapReduce.Files[0] = job.ShipFile{Path: path, Name: name, Sum: sum}
		})
	}
	base := with("/tmp/1/map.awk", "map.awk", "ab")
	for name, tt := range map[string]struct {
		spec       *job.Spec
		app, place bool // are the same
	}{
		"from another folder": {with("/tmp/2/map.awk", "map.awk", "ab"), true, false},
		"edited":              {with("/tmp/1/map.awk", "map.awk", "cd"), false, true},
		"with another name":   {with("/tmp/1/map.awk", "m.awk", "ab"), false, false},
		"never summed":        {with("/tmp/1/map.awk", "map.awk", ""), false, true},
	} {
		if app, place := Application(tt.spec) == Application(base), ApplicationByPath(tt.spec) == ApplicationByPath(base); app != tt.app || place != tt.place {
			t.Errorf("%s: same application %v, same place %v", name, app, place)
		}
	}
	if s := with("/tmp/1/map.awk", "map.awk", ""); Application(s) != ApplicationByPath(s) {
		t.Error("without a sum the application is not known by its paths")
	}
}

func TestNodeType(t *testing.T) {
	for _, tt := range []struct {
		model string
		cores int
		want  string
	}{
		{"Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", 40, "intel-xeon-gold-6230-2.10ghz/40"},
		{"AMD EPYC 7763 64-Core Processor", 128, "amd-epyc-7763/128"},
		{"  Neoverse-N1 ", 4, "neoverse-n1/4"},
		{"", 2, "unknown/2"},
	} {
		if got := NodeType(tt.model, tt.cores); got != tt.want {
			t.Errorf("NodeType(%q, %d) = %q, want %q", tt.model, tt.cores, got, tt.want)
		}
	}
}

// TestApplicationByName: a name that the user gives decides, whatever the commands, files and folders. Kinds of jobs and stages are apart.
func TestApplicationByName(t *testing.T) {
	named := func(name string, spec *job.Spec) *job.Spec { spec.Application = name; return spec }
	base := Application(named("align", bagSpec("/a", "sh", ".work/1.sh")))
	if Label(base) != "align" || base == Application(bagSpec("/a", "sh", ".work/1.sh")) {
		t.Errorf("application %q", base)
	}
	stage := named("align", bagSpec("/a", "x"))
	stage.Stage = &job.Stage{Name: "split", Folder: "/out.d"}
	for _, tt := range []struct {
		spec *job.Spec
		same bool
	}{
		{named("align", bagSpec("/b", ".work/2.sh")), true},
		{named("align sort", bagSpec("/a", "sh", ".work/1.sh")), false},
		{named("align", mrSpec(func(*job.Spec) {})), false},
		{stage, false},
	} {
		if app := Application(tt.spec); (app == base) != tt.same || app != ApplicationByPath(tt.spec) {
			t.Errorf("%+v: %q, and by path %q; base %q", tt.spec, app, ApplicationByPath(tt.spec), base)
		}
	}
}
