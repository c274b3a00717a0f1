package streaming

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// userDir makes a user's folder with a few files, and a PATH with a few programs.
func userDir(t testing.TB) (dir string, env []string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(root, "home")
	for name, text := range map[string]string{
		"map.py":          "#!/usr/bin/env python3\n",
		"reduce.py":       "#!/usr/bin/env python3\n",
		"lib/util.py":     "x = 1\n",
		"named.py":        "import os\nprint(os.environ['map_input_file'])\n",
		"binary":          "\x00\x01 map_input_file",
		"words.txt":       "a\nb\n",
		"sort":            "not what -mapper sort means\n",
		"tools.tgz":       packed(t, "bin/tool", "x"),
		"../other/far.py": "import sys\n",
		"conf.xml": `<?xml version="1.0"?>
<configuration>
  <property><name>mapred.reduce.tasks</name><value>7</value></property>
  <property><name>my.words</name><value>${my.base}/words</value></property>
  <property><name>my.base</name><value>/data</value><final>true</final></property>
  <property name="mapreduce.job.name" value="from-conf"/>
  <property><name>yarn.nodemanager.port</name><value>1</value></property>
</configuration>
`,
		"broken.xml":  "<configuration>\n<property><name>a</name>\n</configuration>\n",
		"other.xml":   "<html></html>",
		"noname.xml":  "<configuration>\n<property><value>1</value></property></configuration>",
		"include.xml": "<configuration>\n<xi:include href='x'/></configuration>",
	} {
		write(t, filepath.Join(dir, name), text, 0o644)
	}
	bin := filepath.Join(root, "bin")
	for _, program := range []string{"cat", "sort", "python3", "awk", "tail", "sh", "wc", "uniq", "perl"} {
		write(t, filepath.Join(bin, program), "#!/bin/sh\n", 0o755)
	}
	return dir, []string{"PATH=" + bin, "USER=ada", "LANG=C"}
}

// packed returns a .tgz archive of one file.
func packed(t testing.TB, name, text string) string {
	t.Helper()
	var b strings.Builder
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))})
	if _, werr := io.WriteString(w, text); errors.Join(err, werr, w.Close(), z.Close()) != nil {
		t.Fatal(err, werr)
	}
	return b.String()
}

func write(t testing.TB, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// TestCommandLines tells what is made of command lines, and every warning's and
// error's text. A line of input is an argument; one that begins with $ is parted at
// blanks. The output has the fields that differ from those of the plainest job.
// Rewrite with: go test ./internal/compat/streaming -rewrite
func TestCommandLines(t *testing.T) {
	dir, env := userDir(t)
	plain, err := Parse([]string{"-input", "in", "-output", "out"}, dir, env)
	if err != nil {
		t.Fatal(err)
	}
	datadriven.Walk(t, "testdata/lines", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var args []string
			for _, line := range strings.Split(d.Input, "\n") {
				if rest, parted := strings.CutPrefix(line, "$"); parted {
					args = append(args, strings.Fields(rest)...)
				} else {
					args = append(args, line)
				}
			}
			if d.Cmd == "job" {
				args = append([]string{"-input", "in", "-output", "out"}, args...)
			}
			r, err := Parse(args, dir, env)
			text := outcome(t, plain.Spec, r, err)
			return strings.ReplaceAll(text, filepath.Dir(dir), "/root")
		})
	})
}

func outcome(t *testing.T, plain *job.Spec, r *Result, err error) string {
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "error %d: %v\n", job.CodeOf(err), err)
		return b.String()
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"detach", r.Detach}, {"json", r.JSON}, {"verbose", r.Verbose}, {"help", r.Help}, {"info", r.Info}} {
		if flag.set {
			fmt.Fprintf(&b, "flag: %s\n", flag.name)
		}
	}
	if r.Spec != nil {
		b.WriteString(differences(t, plain, r.Spec))
	}
	if b.Len() == 0 {
		return "the plainest job\n"
	}
	return b.String()
}

// differences writes the fields of got that are not as in plain, in JSON's terms.
func differences(t *testing.T, plain, got *job.Spec) string {
	base, fields := flatten(t, plain), flatten(t, got)
	var lines []string
	for name, value := range fields {
		if base[name] != value {
			lines = append(lines, name+" = "+value+"\n")
		}
	}
	for name := range base {
		if _, there := fields[name]; !there {
			lines = append(lines, name+" is gone\n")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// flatten writes a spec as field → JSON.
func flatten(t *testing.T, s *job.Spec) map[string]string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]json.RawMessage
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	flat := map[string]string{}
	for name, value := range tree {
		var inner map[string]json.RawMessage
		if json.Unmarshal(value, &inner) != nil {
			flat[name] = string(value)
			continue
		}
		for n, v := range inner {
			flat[n] = string(v)
		}
	}
	return flat
}

func TestSplitCommand(t *testing.T) {
	// What Hadoop's PipeMapRed.splitArgs gives (TestStreaming's own cases among them).
	for command, want := range map[string][]string{
		"":                         nil,
		"cat":                      {"cat"},
		"  a   b ":                 {"a", "b"},
		`perl -e 'print 1'`:        {"perl", "-e", "print 1"},
		`a "b 'c' d" e`:            {"a", "b 'c' d", "e"},
		`a'b c'd`:                  {"a", "b c", "d"},
		`a ''`:                     {"a"},
		`a\ b`:                     {`a\`, "b"},
		`a 'b c`:                   {"a", "b c"},
		"a\tb":                     {"a\tb"},
		`python map.py --sep="\t"`: {"python", "map.py", "--sep=", `\t`},
	} {
		if got := SplitCommand(command); !slices.Equal(got, want) {
			t.Errorf("SplitCommand(%q) = %q, want %q", command, got, want)
		}
	}
}

// TestTablesAreSound: no name stands for two things, nothing lacks a meaning.
func TestTablesAreSound(t *testing.T) {
	seen := map[string]bool{}
	b := newBuilder("/", nil)
	taken := func(name string, e effect) {
		kind, _, numbers := strings.Cut(e.kind, " ")
		value := map[string]string{"boolean": "true", "on": "", "share": "0.5", "text": "x", "separator": ";", "size": "1k"}[kind]
		if numbers {
			value = "7"
		}
		if err := b.take(e.kind, Setting{Name: name, Value: value, Where: name}, b.field(e.field)); err != nil {
			t.Errorf("%s cannot have the value %q: %v", name, value, err)
		}
	}
	for _, f := range Flags() {
		if f.kind != "" {
			taken(f.Name, f.effect)
		}
		for _, name := range []string{f.Name, f.Short} {
			if seen[name] && name != "" {
				t.Errorf("flag %s is in the table twice", name)
			}
			seen[name] = true
		}
		if f.Meaning == "" || f.Status == "" {
			t.Errorf("flag %s has no meaning or status", f.Name)
		}
	}
	seen = map[string]bool{}
	set := b.set
	later := []string{"berth.input.include", job.SelectionSeparatorKey, job.MapSelectionKey, job.ReduceSelectionKey, readerPrefix + "class", job.XMLBeginKey, job.XMLEndKey}
	for _, k := range Keys() {
		for _, name := range append([]string{k.Name}, k.Old...) {
			if seen[name] {
				t.Errorf("key %s is in the table twice", name)
			}
			seen[name] = true
		}
		if k.Meaning == "" || k.Status == "" || k.Status == Works && set[k.Name] == nil && k.kind == "" && !slices.Contains(later, k.Name) {
			t.Errorf("key %s has no meaning, status or effect", k.Name)
		}
		if k.kind != "" {
			taken(k.Name, k.effect)
		}
	}
	for name := range set {
		if findKey(name) == nil && findFlag(name, false) == nil {
			t.Errorf("%s is set, but is neither a flag nor a key", name)
		}
	}
	for _, name := range later {
		if findKey(name) == nil {
			t.Errorf("%s is no key", name)
		}
	}
}

func TestUsage(t *testing.T) {
	for name, want := range map[string]string{"input": "-input PATHS", "lazyOutput": "-lazyOutput", "nodes": "-N, --nodes MIN[-MAX]", "exclusive": "--exclusive"} {
		if got := findFlag(name, false).Usage(); got != want {
			t.Errorf("usage of %s is %q, want %q", name, got, want)
		}
	}
}

// TestConventions: every flag and key that users are promised is in the tables.
func TestConventions(t *testing.T) {
	for _, name := range strings.Fields(`input output mapper combiner reducer file inputformat outputformat partitioner
		numReduceTasks cmdenv mapdebug reducedebug jobconf cacheFile cacheArchive io lazyOutput background verbose info debug help dfs
		additionalconfspec inputreader D files archives libjars conf fs jt nodes time partition account qos constraint job-name
		cpus-per-task mem on max-nodes max-time idle-timeout workers sort-memory scratch exclusive sbatch-arg json detach`) {
		if findFlag(name, false) == nil {
			t.Errorf("there is no flag %s", name)
		}
	}
	for _, name := range strings.Fields(`mapreduce.job.reduces mapred.reduce.tasks mapreduce.job.maps mapred.map.tasks mapreduce.job.name
		mapred.job.name stream.num.map.output.key.fields stream.map.output.field.separator stream.reduce.output.field.separator
		mapreduce.map.output.key.field.separator map.output.key.field.separator mapreduce.partition.keypartitioner.options
		mapred.text.key.partitioner.options num.key.fields.for.partition mapreduce.partition.keycomparator.options
		mapreduce.job.output.key.comparator.class mapreduce.output.fileoutputformat.compress
		mapreduce.output.fileoutputformat.compress.codec mapreduce.map.memory.mb mapreduce.reduce.memory.mb mapreduce.map.speculative
		mapreduce.reduce.speculative mapreduce.map.maxattempts mapreduce.reduce.maxattempts mapreduce.task.timeout
		mapreduce.job.reduce.slowstart.completedmaps mapreduce.input.lineinputformat.linespermap stream.non.zero.exit.is.failure
		mapreduce.job.queuename`) {
		if findKey(name) == nil {
			t.Errorf("there is no key %s", name)
		}
	}
}

// TestKeysWithoutEffect checks that no other file reads a key of which users are told that it has no effect.
func TestKeysWithoutEffect(t *testing.T) {
	spellings := 0
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "/keys.go") || strings.HasSuffix(path, "/conf.go") { // conf.go makes user.name
			return err
		}
		text, err := os.ReadFile(path)
		for _, word := range strings.Split(string(text), "\"") {
			if k := findKey(word); k != nil && k.Status == NoWork {
				t.Errorf("%s has %s", path, word)
			} else if k != nil {
				spellings++
			}
		}
		return err
	})
	if err != nil || spellings == 0 {
		t.Errorf("%d keys that are read were found: %v", spellings, err)
	}
}

func TestConfReachesTasks(t *testing.T) {
	dir, env := userDir(t)
	r, err := Parse([]string{"-conf", "conf.xml", "-D", "mapred.reduce.tasks=3", "-D", "who=${user.name} ${env.LANG} ${env.NONE-x} ${nobody}",
		"-cmdenv", "A=1", "-input", "in", "-output", "out"}, dir, env)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Spec.MapReduce
	for key, want := range map[string]string{
		"mapreduce.job.reduces": "3", "mapred.reduce.tasks": "3", "my.words": "/data/words", "who": "ada C x ${nobody}", "mapred.job.name": "from-conf",
	} {
		if m.Conf[key] != want {
			t.Errorf("%s is %q, want %q", key, m.Conf[key], want)
		}
	}
	if m.Reduces != 3 || r.Spec.Name != "from-conf" {
		t.Errorf("reduces %d, name %q", m.Reduces, r.Spec.Name)
	}
	if !slices.Contains(m.Env, "A=1") || !slices.Contains(m.Env, "USER=ada") || !slices.Equal(m.CmdEnv, []string{"A=1"}) {
		t.Errorf("environment is %q and %q", m.Env, m.CmdEnv)
	}
}

func TestExpansionEnds(t *testing.T) {
	c := newConfiguration(nil)
	c.set("a", "${b}${b}", "x")
	c.set("b", "${a}${a}", "x")
	c.set("self", "x${self}", "x")
	for _, key := range []string{"a", "self"} {
		if s, _ := c.get(key); len(s.Value) > maxExpansions*2*maxValue {
			t.Errorf("%s grew to %d bytes", key, len(s.Value))
		}
	}
}

func TestFromSettings(t *testing.T) {
	dir, env := userDir(t)
	var ask parse.Ask
	for name, value := range map[string]string{"on": "local", "mem": "1G"} {
		options := parse.Options()
		i := slices.IndexFunc(options, func(o parse.Option) bool { return o.Name == name })
		if err := options[i].Set(&ask, "job.toml:3", value); err != nil {
			t.Fatal(err)
		}
	}
	settings := []Setting{
		{"input", "a", "job.toml:7"}, {"input", "b,c", "job.toml:7"}, {"output", "out", "job.toml:8"},
		{"mapper", "python3 map.py", "job.toml:9"}, {"reducer", "NONE", "job.toml:10"},
		{"D", "mapreduce.map.maxattempts=2", "job.toml:11"}, {"D", "stream.map.output.field.separator=,", "job.toml:11"},
	}
	r, err := FromSettings("wc", settings, ask, dir, env)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Spec.MapReduce
	if r.Spec.Name != "wc" || r.Spec.Request.On != "local" || m.MapAttempts != 2 || m.MapOutputSeparator != "," || m.Reducer != nil ||
		m.MapNeed.Mem != 1<<30 || len(m.Inputs) != 3 || len(m.Files) != 1 || m.Files[0].Name != "map.py" {
		t.Errorf("spec is %+v %+v", r.Spec, m)
	}
	settings = append(settings, Setting{Name: "D", Value: "mapreduce.map.maxattempts=x", Where: "job.toml:11"})
	if _, err := FromSettings("wc", settings, ask, dir, env); err == nil || !strings.HasPrefix(err.Error(), "job.toml:11 mapreduce.map.maxattempts: ") {
		t.Errorf("error is %v, want one that names the line", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("-input\nin\n-output\nout\n-mapper\ncat")
	f.Add("-D\na=b\n-Dc=d\n-input\nin,{a,b}\nx\n--output=out\n-numReduceTasks\n0\n-reducer\naggregate")
	f.Add("-conf\nconf.xml\n-files\nwords.txt#w,map.py\n-archives\ntools.tgz\n-N4\n-t\n1:00\n--mem\n2G\n-cmdenv\nA=b\n-io\ntext")
	f.Add("-D\na=${b}\n-D\nb=${a}x\n-mapper\npython3 ../other/far.py 'a b\n-input\nfile:///x\n-output\n-\n")
	dir, env := userDir(f)
	f.Fuzz(func(t *testing.T, line string) {
		r, err := Parse(strings.Split(line, "\n"), dir, env)
		if err != nil {
			if job.ClassOf(err) != job.User {
				t.Fatalf("error %#v is no user's", err)
			}
			return
		}
		if r.Spec == nil {
			if !r.Help {
				t.Fatal("neither job nor help")
			}
			return
		}
		if err := r.Spec.Validate(); err != nil {
			t.Fatalf("the job is not sound: %v", err)
		}
	})
}

func FuzzConf(f *testing.F) {
	f.Add([]byte(`<configuration><property><name>a</name><value>${b}</value></property></configuration>`))
	f.Add([]byte(`<configuration><property name="a" value="b" final="true"/><property><name>a</name><value/></property></configuration>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newConfiguration(nil)
		if err := c.read("x.xml", data); err != nil && job.CodeOf(err) != job.CodeConfig {
			t.Fatalf("error %#v is none of the configuration", err)
		}
		c.all()
	})
}
