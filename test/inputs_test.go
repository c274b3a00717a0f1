package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/support/moto"
)

// TestInputReplaced replaces the input of a job by one of the same size and time while its first map runs. The job stops with the name, and is not tried again. It is
// not resumed with the other input, and ends as if nothing had happened once the earlier one is back.
func TestInputReplaced(t *testing.T) {
	t.Parallel()
	w, b := newWorld(t), moto.StartBucket(t)
	w.batch = append([]string{noBatch}, b.Env...)
	before, after := words(newRand(1), 10_000), words(newRand(2), 20_000)
	after = after[:len(before)]
	input := filepath.Join(w.dir, "in.txt")
	places := []struct {
		name, what   string
		put, replace func()
		restore      func()
	}{
		{input, "has its place", func() { w.write("in.txt", before) }, func() {
			info, err := os.Stat(input)
			w.ok(err)
			w.write("in.txt.next", after)
			w.ok(os.Chtimes(input+".next", info.ModTime(), info.ModTime()))
			w.ok(os.Link(input, input+".before"))
			w.ok(os.Rename(input+".next", input)) // at once, as a map may open it at any time
		}, func() { w.ok(os.Rename(input+".before", input)) }},
		{"s3://shelf/in.txt", "was overwritten", func() { b.Put("in.txt", before) }, func() { b.Put("in.txt", after) }, func() { b.Put("in.txt", before) }},
	}
	for i, p := range places {
		p.put()
		out, started, goOn := fmt.Sprint("out", i), filepath.Join(w.dir, fmt.Sprint("started", i)), filepath.Join(w.dir, fmt.Sprint("go", i))
		w.write("map.sh", "#!/bin/sh\ncat\ntouch "+started+"\nwhile [ ! -e "+goOn+" ]; do sleep 0.1; done\n")
		r := w.start("mapreduce", "-input", p.name, "-output", out, "-mapper", "map.sh", "-numReduceTasks", "0",
			"-D", "mapreduce.input.fileinputformat.split.maxsize=20000")
		w.await("a map to run", func() bool { _, err := os.Stat(started); return err == nil })
		p.replace()
		w.write(fmt.Sprint("go", i), "")
		want := p.name + ": input changed while the job ran: "
		if got := w.finish(r); got.code != 5 || !strings.Contains(got.stderr, want) || !strings.Contains(got.stderr, p.what) || strings.Contains(got.stderr, "tried again") {
			t.Errorf("while %s was replaced: %v", p.name, got)
		}
		id := string(w.jobs()[len(w.jobs())-1])
		if got := w.berth("resume", id); got.code != 5 || !strings.Contains(got.stderr, want) {
			t.Errorf("resumed while %s is another one: %v", p.name, got)
		}
		p.restore()
		w.must("resume", id)
		if got := strings.TrimSuffix(w.output(out), "\n"); got != before {
			t.Errorf("with the earlier %s: %d bytes, want %d", p.name, len(got), len(before))
		}
	}
}

// TestProgramsThatEndEarly runs programs that end with 0 before they have read their input: they fail as in Hadoop, unless they are mappers that may.
func TestProgramsThatEndEarly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in.txt", strings.Repeat("some words of a line\n", 20_000))
	w.write("small.txt", "a\nb\n")
	const why = "ended before it had read its input"
	for i, tt := range []struct {
		input, mapper, combiner, reducer string
		may                              string // the key's value; empty: it is not given
		want                             string // the output; empty: the job fails
	}{
		{"in.txt", "head -n 2", "", "cat", "", ""},
		{"in.txt", "head -n 2", "", "uniq", "2", "some words of a line\n"},
		{"in.txt", "head -n 2", "", "uniq", "3", ""},
		{"in.txt", "cat", "", "head -n 1", "", ""},
		{"in.txt", "cat", "", "head -n 1", "0", ""},
		{"in.txt", "cat", "head -n 1", "uniq", "0", ""},
		{"in.txt", "cat", "", "sh -c 'head -n 1; cat >/dev/null'", "", "some words of a line\n"},
		{"small.txt", "echo x", "", "cat", "", "x\n"},
	} {
		out := fmt.Sprint("out", i)
		args := []string{"mapreduce", "-input", tt.input, "-output", out, "-mapper", tt.mapper, "-reducer", tt.reducer, "-D", "mapreduce.job.maps=1",
			"-numReduceTasks", "1", "-D", "mapreduce.map.maxattempts=1", "-D", "mapreduce.reduce.maxattempts=1"}
		if tt.combiner != "" {
			args = append(args, "-combiner", tt.combiner)
		}
		if tt.may != "" {
			args = append(args, "-D", "stream.minRecWrittenToEnableSkip_="+tt.may)
		}
		switch r := w.berth(args...); {
		case tt.want == "" && (r.code != 1 || !strings.Contains(r.stderr, why)):
			t.Errorf("%v: %v", args, r)
		case tt.want != "" && (r.code != 0 || strings.ReplaceAll(w.output(out), "\t", "") != tt.want):
			t.Errorf("%v: %v, output %q", args, r, w.output(out))
		}
	}
}
