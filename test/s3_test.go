package test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/test/support/fleet"
	"berth/test/support/moto"
)

// newBucket returns a world with a bucket. Both have the same input: several files, one of them compressed, and some hidden ones.
func newBucket(t *testing.T) (*world, *moto.Bucket) {
	t.Helper()
	w, b := newWorld(t), moto.StartBucket(t)
	w.batch = append([]string{noBatch}, b.Env...)
	for name, content := range map[string]string{
		"in/a.txt": words(newRand(1), 40_000), "in/sub/b.txt": words(newRand(2), 2000) + "no newline", "in/c.txt.gz": string(gzipped(t, words(newRand(3), 3000))),
		"in/_SUCCESS": "hidden\n", "more/d.txt": words(newRand(4), 100), "more/e.log": "not taken\n",
	} {
		w.write(name, content)
		b.Put(name, content)
	}
	w.write("map.sh", "#!/bin/sh\nexec tr -s ' ' '\\n'\n")
	w.write("reduce.sh", "#!/bin/sh\nexec uniq -c\n")
	return w, b
}

// wordCount is a job's command, with splits that cut lines.
func wordCount(args ...string) []string {
	return append([]string{"mapreduce", "-D", "mapreduce.input.fileinputformat.split.maxsize=50003", "-mapper", "map.sh", "-reducer", "reduce.sh",
		"-numReduceTasks", "3"}, args...)
}

// sameParts compares the objects of an output with the files of another one.
func (w *world) sameParts(b *moto.Bucket, objects, files string) {
	w.t.Helper()
	var names []string
	parts, _ := filepath.Glob(filepath.Join(w.dir, files, "part-*"))
	for _, p := range parts {
		name := filepath.Base(p)
		names = append(names, objects+"/"+name)
		if b.Get(objects+"/"+name) != w.read(files+"/"+name) {
			w.t.Errorf("%s differs from the local run", name)
		}
	}
	if got, want := strings.Join(b.Keys(objects+"/"), " "), objects+"/_SUCCESS "+strings.Join(names, " "); got != want {
		w.t.Errorf("there are %s, want %s", got, want)
	}
	if n := b.Uploads(); n > 0 {
		w.t.Errorf("%d uploads are left", n)
	}
}

// TestObjects compares a job from S3 to S3 with one on files.
func TestObjects(t *testing.T) {
	t.Parallel()
	w, b := newBucket(t)
	w.must(wordCount("-input", "in", "-input", "more/*.txt", "-output", "out")...)
	w.must(wordCount("-input", "s3://shelf/in", "-input", "s3n://shelf/more/*.txt", "-output", "s3a://shelf/deep/out/")...)
	w.sameParts(b, "deep/out", "out")
	if r := w.must("cat"); r.stdout != w.output("out") {
		t.Errorf("berth cat prints %d bytes, not the output", len(r.stdout))
	}
	// From S3 to files, and the other way, compressed.
	w.must(wordCount("-input", "s3://shelf/in", "-input", "more/*.txt", "-output", "out2")...)
	if w.output("out2") != w.output("out") {
		t.Error("the output of objects differs from that of files")
	}
	packed := []string{"-D", "mapreduce.output.fileoutputformat.compress=true", "-input", "in", "-output"}
	w.must(wordCount(append(packed, "packed")...)...)
	w.must(wordCount(append(packed, "s3://shelf/packed")...)...)
	w.sameParts(b, "packed", "packed")
}

// TestObjectsRefused checks that commands are refused before anything is submitted.
func TestObjectsRefused(t *testing.T) {
	t.Parallel()
	w, b := newBucket(t)
	b.Put("there/part-00000", "of another job")
	tests := []struct {
		in, out string
		code    int
		want    string
	}{
		{"s3://shelf/in", "s3://shelf/there", 4, "s3://shelf/there: the output exists already"},
		{"s3://nobucket/in", "s3://shelf/new", 5, "s3://nobucket/in: cannot be listed: NoSuchBucket"},
		{"s3://shelf/in", "s3://nobucket/new", 5, "NoSuchBucket"},
		{"s3://shelf/none", "s3://shelf/new", 2, "s3://shelf/none: input does not exist"},
		{"s3://", "s3://shelf/new", 3, "names no bucket"},
	}
	if r := w.berth(wordCount("-input", "s3://shelf/in", "-output", "s3://shelf/new", "-inputformat", "NLineInputFormat")...); !strings.Contains(r.stderr, "cannot split an object") {
		t.Errorf("NLineInputFormat: %v", r)
	}
	for _, tt := range tests {
		r := w.berth(wordCount("-input", tt.in, "-output", tt.out)...)
		if r.code != tt.code || !strings.Contains(r.stderr, tt.want) {
			t.Errorf("%s to %s: %v\nwant exit %d and %q", tt.in, tt.out, r, tt.code, tt.want)
		}
	}
	if jobs := w.jobs(); len(jobs) > 0 || b.Keys("new") != nil {
		t.Errorf("jobs %v were submitted, objects %v written", jobs, b.Keys("new"))
	}
}

// TestObjectsAfterKill kills workers in the middle of a job. No unfinished object or upload is left, and the output equals that of a job on files.
func TestObjectsAfterKill(t *testing.T) {
	t.Parallel()
	w, b := newBucket(t)
	w.must(wordCount("-input", "in", "-output", "out")...)
	w.write("reduce.sh", "#!/bin/sh\nuniq -c\ntouch '"+w.dir+"/reducing'\nwhile [ ! -e '"+w.dir+"/go' ]; do sleep 0.2; done\n")
	r := w.start(wordCount("-input", "s3://shelf/in", "-output", "s3://shelf/out")...)
	w.await("a reduce to run", func() bool { _, err := os.Stat(filepath.Join(w.dir, "reducing")); return err == nil })
	b.BeginUpload("out/part-00000") // as a worker leaves behind that is killed during an upload
	if got := strings.Join(b.Keys("out/"), " "); got != "out/_temporary" {
		t.Errorf("while the job runs there is %s, want only the mark", got)
	}
	for _, pid := range w.workers() {
		w.ok(syscall.Kill(pid, syscall.SIGKILL))
	}
	w.write("go", "")
	if res := w.finish(r); res.code != 0 {
		t.Fatal(res)
	}
	w.sameParts(b, "out", "out")
}

// TestObjectsCancelled cancels a job. It leaves nothing, so that the same command can be run again.
func TestObjectsCancelled(t *testing.T) {
	t.Parallel()
	w, b := newBucket(t)
	w.write("reduce.sh", "#!/bin/sh\ntouch '"+w.dir+"/reducing'\nexec sleep 1000\n")
	r := w.start(wordCount("-input", "s3://shelf/in", "-output", "s3://shelf/out")...)
	w.await("a reduce to run", func() bool { _, err := os.Stat(filepath.Join(w.dir, "reducing")); return err == nil })
	b.BeginUpload("out/part-00000")
	w.must("cancel", string(w.jobs()[0]))
	if res := w.finish(r); res.code == 0 {
		t.Error(res)
	}
	w.await("all of the output to go", func() bool { return b.Keys("out/") == nil && b.Uploads() == 0 })
}

// TestObjectsOnHost checks that a host of ssh reads and writes objects itself, with the job's environment.
func TestObjectsOnHost(t *testing.T) {
	t.Parallel()
	w, b := newBucket(t)
	f := fleet.ForTest(t, fleet.Options{Program: program}, fleet.Names(fleet.Machine{}, "m1")...)
	w.must(wordCount("-input", "in", "-output", "out")...)
	w.batch = append(w.batch, "BERTH_SSH="+f.Command)
	w.must(wordCount("-input", "s3://shelf/in", "-output", "s3://shelf/out", "--hosts", "2/m1")...)
	w.sameParts(b, "out", "out")
}

// TestObjectsOnHostApart checks that a host without the user's files reads and writes objects itself. Of the user's environment it has only what -cmdenv names.
func TestObjectsOnHostApart(t *testing.T) {
	t.Parallel()
	w, b := newBucket(t)
	f := fleet.ForTest(t, fleet.Options{Apart: true, Program: program}, fleet.Names(fleet.Machine{}, "m1", "m2")...)
	w.must(wordCount("-input", "in", "-output", "out")...)
	w.batch = append(w.batch, "BERTH_SSH="+f.Command)
	args := wordCount("-input", "s3://shelf/in", "-output", "s3://shelf/out", "--hosts", "1/m1,1/m2", "-cmdenv", "AWS_ENDPOINT_URL="+w.seenBy(f.Host("m1"), b))
	for _, v := range b.Env[1:] {
		args = append(args, "-cmdenv", v)
	}
	w.must(args...)
	w.sameParts(b, "out", "out")
}

// seenBy returns the URL at which a machine with Apart reaches the server of a bucket.
func (w *world) seenBy(h *fleet.Host, b *moto.Bucket) string {
	w.t.Helper()
	to, err := url.Parse(b.URL)
	w.ok(err)
	here := h.Addr[:strings.LastIndex(h.Addr, ".")] + ".1" // this machine's address in that network
	l, err := net.Listen("tcp", net.JoinHostPort(here, "0"))
	w.ok(err)
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: httputil.NewSingleHostReverseProxy(to), ReadHeaderTimeout: time.Minute}}
	s.Start()
	w.t.Cleanup(s.Close)
	return s.URL
}
