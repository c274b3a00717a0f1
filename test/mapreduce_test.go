package test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// TestWordCount compares a job with the pipeline of sort and the same scripts.
func TestWordCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in/a.txt", words(newRand(1), 3000))
	w.write("in/b.txt", words(newRand(2), 3000)+"last line without newline")
	w.write("map.sh", "#!/bin/sh\nexec tr -s ' ' '\\n'\n")
	w.write("reduce.sh", "#!/bin/sh\nexec uniq -c\n")
	w.must("mapreduce", "-input", "in", "-output", "out", "-mapper", "map.sh", "-reducer", "reduce.sh", "-numReduceTasks", "2")
	cmd := exec.Command("sh", "-c", "(cat in/a.txt; cat in/b.txt; echo) | ./map.sh | LC_ALL=C sort | sed 's/$/\t/' | ./reduce.sh")
	cmd.Dir = w.dir
	want, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := sorted(w.output("out")); got != sorted(string(want)) {
		t.Errorf("got\n%.500s\nwant\n%.500s", got, sorted(string(want)))
	}
	for _, f := range []string{"part-00000", "part-00001", "_SUCCESS"} {
		if _, err := os.Stat(filepath.Join(w.dir, "out", f)); err != nil {
			t.Error(err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, "out", "_temporary*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func sorted(s string) string {
	lines := strings.Split(s, "\n")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// TestStreaming runs one small job for each row, with its arguments added to -input in -output out,
// and compares the output.
func TestStreaming(t *testing.T) {
	t.Parallel()
	const lines = "b 2\na 1\nc 3\na 4\n"
	tests := []struct {
		name, input, want string
		args              []string
	}{
		{"map-only keeps the order", lines, "b 2\na 1\nc 3\na 4\n", []string{"-mapper", "cat", "-numReduceTasks", "0"}},
		{"reducer NONE", lines, "b 2\na 1\nc 3\na 4\n", []string{"-mapper", "cat", "-reducer", "NONE"}},
		{"identity natively", lines, "a 1\na 4\nb 2\nc 3\n", []string{"-mapper", "org.apache.hadoop.mapred.lib.IdentityMapper",
			"-reducer", "org.apache.hadoop.mapred.lib.IdentityReducer"}},
		{"cat and cat", lines, "a 1\t\na 4\t\nb 2\t\nc 3\t\n", []string{"-mapper", "cat", "-reducer", "cat"}},
		{"aggregate", "x\ny\nx\n", "x\t2\ny\t1\n", []string{"-mapper", "sed s/.*/LongValueSum:&\t1/", "-reducer", "aggregate"}},
		{"no newline at the end", "b\na", "a\t\nb\t\n", []string{"-mapper", "cat", "-reducer", "cat"}},
		{"empty file", "", "", []string{"-mapper", "cat", "-reducer", "cat"}},
		{"a mapper that reads nothing", lines, "", []string{"-mapper", "true", "-reducer", "cat"}},
		{"a reducer that writes nothing", lines, "", []string{"-mapper", "cat", "-reducer", "sh -c \"cat >/dev/null\""}},
		{"NUL and invalid UTF-8 in keys", "b\x00\xff\n\xfe\na\x00\n", "a\x00\t\nb\x00\xff\t\n\xfe\t\n", []string{"-mapper", "cat", "-reducer", "cat"}},
		{"a separator of the output", "b x\na 1\nc\n", "a,1\nb,x\nc,\n", []string{"-D", "mapred.textoutputformat.separator=,",
			"-mapper", "tr ' ' '\t'", "-reducer", "cat"}},
		{"a separator of the output, identity", "b;x;y\na;1;2\nc\n", "a;1|2\nb;x|y\nc\n", []string{"-D", "stream.map.output.field.separator=;",
			"-D", "stream.num.map.output.key.fields=2", "-mapper", "cat", "-D", "mapreduce.output.textoutputformat.separator=|"}},
		{"a separator of the output, map-only", "b\tx\n", "b--x\n", []string{"-mapper", "cat", "-numReduceTasks", "0",
			"-D", "mapreduce.output.textoutputformat.separator=--"}},
		{"numeric order, reversed", "2\n10\n1\n", "10\t\n2\t\n1\t\n", []string{"-mapper", "cat", "-reducer", "cat",
			"-D", "mapreduce.job.output.key.comparator.class=org.apache.hadoop.mapreduce.lib.partition.KeyFieldBasedComparator",
			"-D", "mapreduce.partition.keycomparator.options=-nr"}},
	}
	w := newWorld(t)
	for i, tt := range tests {
		in, out := fmt.Sprintf("in%d.txt", i), fmt.Sprintf("out%d", i)
		w.write(in, tt.input)
		r := w.berth(append([]string{"mapreduce", "-input", in, "-output", out}, tt.args...)...)
		if r.code != 0 {
			t.Errorf("%s: %v", tt.name, r)
			continue
		}
		if got := w.output(out); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if _, err := os.Stat(filepath.Join(w.dir, out, "_SUCCESS")); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestCombinerAndCounters runs a combiner and checks the counters that a mapper reports.
func TestCombinerAndCounters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in.txt", strings.Repeat("a b a\n", 1000))
	w.write("map.sh", "#!/bin/sh\necho reporter:counter:mine,seen,3 >&2\necho reporter:status:at work >&2\ntr ' ' '\\n' | sed 's/$/\t1/'\n")
	w.write("sum.sh", "#!/bin/sh\nexec awk -F '\\t' '$1 != k { if (NR > 1) print k \"\\t\" s; k = $1; s = 0 } { s += $2 } END { if (NR) print k \"\\t\" s }'\n")
	w.must("mapreduce", "-input", "in.txt", "-output", "out", "-mapper", "map.sh", "-combiner", "sum.sh", "-reducer", "sum.sh")
	if got, want := w.output("out"), "a\t2000\nb\t1000\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r := w.must("report", "last", "--json")
	if !strings.Contains(r.stdout, `"mine":{"seen":3}`) {
		t.Errorf("the counter is not in the report: %s", r.stdout)
	}
}

// TestCompressed reads and writes compressed files.
func TestCompressed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in/x.gz", string(gzipped(t, "b\na\n")))
	for _, c := range []string{"zstd", "bzip2"} {
		w.write("in/"+c, "d\nc\n")
		if out, err := exec.Command(c, filepath.Join(w.dir, "in", c)).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v %s", c, err, out)
		}
		_ = os.Remove(filepath.Join(w.dir, "in", c))
	}
	w.write("in/y.snappy", "\x00\x00\x00\x04\x00\x00\x00\x06\x04\x0cf\ne\n") // a block of Hadoop's with a chunk of one literal
	w.must("mapreduce", "-input", "in/*", "-output", "out", "-mapper", "cat", "-reducer", "cat",
		"-D", "mapreduce.output.fileoutputformat.compress=true")
	out, err := exec.Command("gzip", "-dc", filepath.Join(w.dir, "out", "part-00000.gz")).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := "a\t\nb\t\nc\t\nc\t\nd\t\nd\t\ne\t\nf\t\n"
	if string(out) != want {
		t.Errorf("got %q, want %q", out, want)
	}
	w.must("mapreduce", "-input", "in/*", "-output", "deflated", "-mapper", "cat", "-reducer", "cat",
		"-D", "mapreduce.output.fileoutputformat.compress=true", "-D", "mapreduce.output.fileoutputformat.compress.codec=DefaultCodec")
	unpack := exec.Command("python3", "-c", "import sys, zlib; sys.stdout.write(zlib.decompress(open(sys.argv[1], 'rb').read()).decode())",
		filepath.Join(w.dir, "deflated", "part-00000.deflate"))
	if out, err := unpack.Output(); err != nil || string(out) != want {
		t.Errorf("deflated: got %q, %v; want %q", out, err, want)
	}
}

// TestFolderWithoutFiles checks that a folder without files gives an empty job, which runs no program and has an empty output.
func TestFolderWithoutFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in/_hidden", "x\n")
	for reduces, parts := range map[string]int{"0": 0, "2": 2} {
		out := "out" + reduces
		r := w.must("mapreduce", "-input", "in", "-output", out, "-mapper", "sh -c \"cat; echo map\"", "-reducer", "sh -c \"cat; echo end\"",
			"-numReduceTasks", reduces)
		if !strings.Contains(r.stderr, "the input has no files") {
			t.Errorf("%s reduces: %v", reduces, r)
		}
		if _, err := os.Stat(filepath.Join(w.dir, out, "_SUCCESS")); err != nil {
			t.Error(err)
		}
		if found, _ := filepath.Glob(filepath.Join(w.dir, out, "part-*")); len(found) != parts || parts > 0 && w.output(out) != "" {
			t.Errorf("%s reduces: parts %v", reduces, found)
		}
	}
}

// TestLineWithoutEnd checks that a file without a newline that is larger than all memory for sorting fails its
// job at once, without a retry.
func TestLineWithoutEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := os.Truncate(w.write("in.txt", ""), 3<<30); err != nil {
		t.Fatal(err)
	}
	r := w.berth("mapreduce", "-input", "in.txt", "-output", "out", "-mapper", "cat", "-reducer", "cat", "--sort-memory", "128M")
	if r.code != 5 || !strings.Contains(r.stderr, "mapper: wrote a line of") || !strings.Contains(r.stderr, "a record may have") ||
		!strings.Contains(r.stderr, "--sort-memory") || strings.Contains(r.stderr, "tried again") {
		t.Error(r)
	}
}

// TestLongLine runs a job on a line of 32 MiB.
func TestLongLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("x", 32<<20)
	w.write("in.txt", "b\n"+long+"\na\n")
	w.must("mapreduce", "-input", "in.txt", "-output", "out", "-mapper", "cat", "-reducer", "cat", "--sort-memory", "1G")
	if got := w.output("out"); got != "a\t\nb\t\n"+long+"\t\n" {
		t.Errorf("the output is wrong: %d bytes", len(got))
	}
}

// TestShuffleBetweenWorkers compares the output with many workers and with one.
func TestShuffleBetweenWorkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in.txt", words(newRand(9), 30000))
	args := func(out string, workers string) []string {
		return []string{"mapreduce", "--workers", workers, "-input", "in.txt", "-output", out, "-mapper", "tr -s \" \" \\n",
			"-reducer", "uniq -c", "-numReduceTasks", "4", "-D", "mapreduce.input.fileinputformat.split.maxsize=10000"}
	}
	w.must(args("one", "1")...)
	w.must(args("four", "4")...)
	if w.output("one") != w.output("four") {
		t.Error("four workers and one give different output")
	}
}

// TestUnusableInput runs jobs whose input turns out to be bad while they run. They
// stop at once, as a retry would not help.
func TestUnusableInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("cut.gz", string(gzipped(t, "b\na\n")[:20]))
	w.write("plain.gz", "b\na\n")
	w.write("grows.txt", strings.Repeat("b\na\n", 1000))
	w.write("grow.sh", "#!/bin/sh\necho c >>"+filepath.Join(w.dir, "grows.txt")+"\ncat\n")
	for _, tt := range []struct{ input, mapper, want string }{
		{"cut.gz", "cat", "is cut off"},
		{"plain.gz", "cat", "is not a gzip file"},
		{"grows.txt", "grow.sh", "changed while the job ran"},
	} {
		r := w.berth("mapreduce", "-input", tt.input, "-output", "out", "-mapper", tt.mapper, "-reducer", "cat",
			"-D", "mapreduce.input.fileinputformat.split.maxsize=1000")
		if r.code != 5 || !strings.Contains(r.stderr, tt.want) || strings.Contains(r.stderr, "tried again") {
			t.Errorf("%s: %v", tt.input, r)
		}
		if _, err := os.Stat(filepath.Join(w.dir, "out")); err == nil {
			t.Errorf("%s: the output folder is left", tt.input)
		}
	}
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return gz.Bytes()
}

// TestOutputIsTakenAway removes a committed part while the job still runs: the
// job must not report that its output is complete.
func TestOutputIsTakenAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in.txt", "b\na\n")
	w.write("red.sh", "#!/bin/sh\nwhile [ $mapreduce_task_partition = 1 ] && [ ! -e "+filepath.Join(w.dir, "go")+" ]; do sleep 0.2; done\ncat\n")
	r := w.start("mapreduce", "-input", "in.txt", "-output", "out", "-mapper", "cat", "-reducer", "red.sh", "-numReduceTasks", "2")
	part := filepath.Join(w.dir, "out", "part-00000")
	w.await("the first part", func() bool { return os.Remove(part) == nil })
	w.write("go", "")
	if got := w.finish(r); got.code != 5 || !strings.Contains(got.stderr, part+": was removed while the job ran") {
		t.Error(got)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "out", "_SUCCESS")); err == nil {
		t.Error("the output is said to be whole")
	}
}

// TestScratchFolder checks that an unusable scratch folder is refused at once, and that a usable one is
// left unchanged except for berth's own folder in it.
func TestScratchFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in.txt", "b\na\n")
	args := func(scratch string) []string {
		return []string{"mapreduce", "--scratch", scratch, "-input", "in.txt", "-output", "out", "-mapper", "cat", "-reducer", "cat"}
	}
	if r := w.berth(args("in.txt")...); r.code != 3 || !strings.Contains(r.stderr, "--scratch: "+filepath.Join(w.dir, "in.txt")+" is not a folder") {
		t.Error(r)
	}
	shared := filepath.Join(w.dir, "shared")
	if err := os.Mkdir(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	w.must(args("shared")...)
	info, err := os.Stat(shared)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the user's folder is %v, %v", info.Mode(), err)
	}
	own, err := filepath.Glob(filepath.Join(shared, "*"))
	if err != nil || len(own) != 1 || !strings.HasPrefix(filepath.Base(own[0]), "berth-") {
		t.Errorf("in the user's folder: %v, %v", own, err)
	}
}

// TestUnusableArchive checks that an archive that cannot be unpacked is refused before anything is submitted.
func TestUnusableArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in.txt", "b\na\n")
	w.write("tools.tgz", "no archive\n")
	r := w.berth("mapreduce", "-archives", "tools.tgz", "-input", "in.txt", "-output", "out", "-mapper", "cat", "-reducer", "cat")
	if r.code != 3 || !strings.Contains(r.stderr, "tools.tgz cannot be unpacked") || len(w.jobs()) != 0 {
		t.Error(r)
	}
}
