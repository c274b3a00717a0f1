package mapreduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"berth/internal/core/job"
	"berth/internal/mapreduce/shuffle"
)

// Streaming commands as users write them.
func TestCommands(t *testing.T) {
	in := []byte("b a\nb\n\na b c\n")
	const sum = `awk -F'\t' '{n[$1]+=$2} END {for (k in n) print k "\t" n[k]}' | LC_ALL=C sort`
	for name, test := range map[string]struct {
		mapper, combiner, reducer string
		want                      string
	}{
		"word count":             {"tr ' ' '\\n' | sed 's/$/\t1/'", "", sum, "\t1\na\t2\nb\t3\nc\t1\n"},
		"with combiner":          {"tr ' ' '\\n' | sed 's/$/\t1/'", sum, sum, "\t1\na\t2\nb\t3\nc\t1\n"},
		"reads nothing":          {"echo x", "", "cat", "x\t\n"},
		"reads a line":           {"head -n1", "", "cat", "b a\t\n"},
		"writes nothing":         {"cat >/dev/null", "", "cat", ""},
		"reducer writes nothing": {"cat", "", "cat >/dev/null", ""},
		"reducer reads nothing":  {"cat", "", "echo x", "x\n"},
		"no newline at the end":  {"printf 'b\na'", "", "printf 'c\nd'", "c\nd\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, in)
			c.mapper, c.reducer = command(test.mapper), command(test.reducer)
			if test.combiner != "" {
				c.combiner = command(test.combiner)
			}
			if got := c.run()[0]; string(got) != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A program may end before the end of its input. A program that fails makes the attempt fail.
func TestFailingPrograms(t *testing.T) {
	big := bytes.Repeat([]byte("some line\n"), 300_000)
	c := newCluster(t, big)
	c.mapper = command("head -n1")
	if _, err := c.runMap(context.Background(), 0); err != nil {
		t.Errorf("mapper that stops reading: %v", err)
	}
	c.mapper = command("cat; exit 3")
	var exit *exec.ExitError
	if _, err := c.runMap(context.Background(), 0); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("mapper that fails: %v", err)
	}
	c.mapper, c.combiner = nil, command("exit 4")
	if _, err := c.runMap(context.Background(), 0); !errors.As(err, &exit) || exit.ExitCode() != 4 {
		t.Errorf("combiner that fails: %v", err)
	}
	c.combiner = nil
	c.attempts[0] = 0
	c.maps()
	c.reducer = command("exit 5")
	if err := RunReduce(context.Background(), c.reduceTask(0, c.segments())); !errors.As(err, &exit) || exit.ExitCode() != 5 {
		t.Errorf("reducer that fails: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(c.spec.Output, "*", "*", "*", "*")); len(left) > 0 {
		t.Errorf("a failed reduce left %v", left)
	}
}

// A record that is larger than the whole memory is written to a file of its own.
func TestGiantRecord(t *testing.T) {
	giant := bytes.Repeat([]byte("0123456789"), 100_000)
	for _, streams := range []bool{false, true} {
		in := append(append(append([]byte("b\tx\n"), giant...), "\tvalue\na\n"...), giant...)
		inputs := [][]byte{in, text(1, 1000), giant}
		c := newCluster(t, inputs...)
		c.memory, c.reduces = 64<<10, 2
		if streams {
			c.mapper, c.reducer = cat, cat
			c.combiner = cat
		}
		c.remote()
		want := dumbJob(c, inputs)
		for p, got := range c.run() {
			if !bytes.Equal(got, want[p]) {
				t.Errorf("part %d: %d bytes, want %d", p, len(got), len(want[p]))
			}
		}
	}
}

// Splits and partitions may be empty, and a job may have no maps.
func TestEmpty(t *testing.T) {
	for _, inputs := range [][][]byte{nil, {{}}, {{}, []byte("a\n"), {}}} {
		c := newCluster(t, inputs...)
		c.reduces = 3
		want := dumbJob(c, inputs)
		for p, got := range c.run() {
			if !bytes.Equal(got, want[p]) {
				t.Errorf("%q: part %d is %q, want %q", inputs, p, got, want[p])
			}
		}
	}
	c := newCluster(t, nil)
	c.maps()
	seg, err := c.outputs.Open(job.Attempt{Job: "mapreduce-1", N: 1}, 0)
	if err != nil || seg.Length != 0 {
		t.Errorf("an empty segment is %+v, %v", seg, err)
	}
}

func TestMapOnly(t *testing.T) {
	for name, test := range map[string]struct {
		mapper    Program
		separator string
		in, want  string
	}{
		"identity":  {nil, "\t", "b\na\tx\nc", "b\na\tx\nc\n"},
		"command":   {command("cat"), "\t", "b\na\tx\nc", "b\na\tx\nc\n"},
		"open line": {command("printf a"), "\t", "b\n", "a\n"},
		"separator": {command("cat"), "::", "b::1::2\na\n::\nc:", "b\t1::2\na\n\t\nc:\n"},
		"nothing":   {command("cat >/dev/null"), "\t", "b\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, []byte(test.in))
			c.reduces, c.mapper, c.spec.MapOutputSeparator = 0, test.mapper, test.separator
			left, err := c.runMap(context.Background(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.committed(left); string(got) != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if c.sum("MAP_INPUT_RECORDS") == 0 {
				t.Error("no input counted")
			}
		})
	}
}

// The reducer's separator becomes a TAB, also if a line arrives in pieces.
func TestReduceSeparator(t *testing.T) {
	c := newCluster(t, []byte("a,b,c\nd\ne,\n"))
	c.spec.ReduceOutputSeparator = ","
	c.reducer = programFunc(func(_ context.Context, in io.Reader, out io.Writer) error {
		_, err := io.Copy(struct{ io.Writer }{out}, iotest.OneByteReader(in))
		return err
	})
	if got := c.run()[0]; string(got) != "a\tb,c\t\nd\t\ne\t\t\n" {
		t.Errorf("got %q", got)
	}
	c.spec.Conf = map[string]string{"stream.num.reduce.output.key.fields": "2"}
	if got := c.run()[0]; string(got) != "a,b\tc\t\nd\t\ne,\t\n" {
		t.Errorf("with two key fields: %q", got)
	}
}

func TestCounters(t *testing.T) {
	in := bytes.Repeat([]byte("a\t1\nb\t1\na\t1\n"), 1000)
	c := newCluster(t, in, in)
	c.memory, c.mapper, c.reducer = littleMemory, cat, cat
	c.combiner = command(`awk -F'\t' '{n[$1]+=$2} END {for (k in n) print k "\t" n[k]}'`)
	got := c.run()[0]
	for name, want := range map[string]int64{
		"MAP_INPUT_RECORDS": 6000, "MAP_OUTPUT_RECORDS": 6000, "MAP_OUTPUT_BYTES": 24000,
		"REDUCE_INPUT_GROUPS": 2, "REDUCE_INPUT_RECORDS": int64(bytes.Count(got, newline)),
		"REDUCE_OUTPUT_RECORDS": int64(bytes.Count(got, newline)),
	} {
		if n := c.sum(name); n != want {
			t.Errorf("%s is %d, want %d", name, n, want)
		}
	}
	if in, out := c.sum("COMBINE_INPUT_RECORDS"), c.sum("COMBINE_OUTPUT_RECORDS"); in < 6000 || out >= in || out == 0 {
		t.Errorf("combined %d to %d", in, out)
	}
	if c.sum("SPILLED_RECORDS") == 0 || c.sum("REDUCE_SHUFFLE_BYTES") == 0 {
		t.Error("spilled or shuffled nothing")
	}
}

// Phases report what they read and write, and how much they will read.
func TestProgress(t *testing.T) {
	var inputs [][]byte
	for i := range 10 { // to be merged in several passes
		inputs = append(inputs, text(uint64(i), 4000))
	}
	c := newCluster(t, inputs...)
	c.memory = littleMemory
	c.run()
	m, r := c.progress[0], c.progress[10]
	size, records := int64(len(inputs[0])), int64(4000)
	all := int64(len(bytes.Join(inputs, nil)))
	if fmt.Sprint(m.phases, r.phases) != "[map merge] [shuffle sort reduce]" {
		t.Errorf("phases %v %v", m.phases, r.phases)
	}
	for name, n := range map[string][2][2]int64{
		"map in": {m.in[job.PhaseMap], {size, records}}, "map out": {m.out[job.PhaseMap], {size, records}},
		"reduce in": {r.in[job.PhaseReduce], {all, 10 * records}}, "reduce out": {r.out[job.PhaseReduce], {all, 10 * records}},
	} {
		if n[0] != n[1] {
			t.Errorf("%s: %v bytes and records, want %v", name, n[0], n[1])
		}
	}
	if m.total[job.PhaseMap] != size || r.total[job.PhaseReduce] != all || m.total[job.PhaseMerge] == 0 {
		t.Errorf("totals %v %v", m.total, r.total)
	}
	if n := r.in[job.PhaseSort][0]; n > r.total[job.PhaseSort] || n == 0 {
		t.Errorf("sort read %d bytes of %d", n, r.total[job.PhaseSort])
	}
	if n := m.in[job.PhaseMerge][0]; n > m.total[job.PhaseMerge] || n == 0 {
		t.Errorf("merge read %d bytes of %d", n, m.total[job.PhaseMerge])
	}
	if out := m.out[job.PhaseMerge]; out[0] == 0 || out[1] != records || r.in[job.PhaseShuffle][1] != 10*records {
		t.Errorf("merged %v, shuffled %v", out, r.in[job.PhaseShuffle])
	}
	if m.cpu == 0 || r.cpu == 0 {
		t.Errorf("CPU %v %v", m.cpu, r.cpu)
	}
}

// Every writer reports a full disk (here /dev/full) with its own message.
func TestFullDisk(t *testing.T) {
	check := func(what string, err error) {
		if job.ClassOf(err) != job.Fatal || job.CodeOf(err) != job.CodeIO || !strings.Contains(err.Error(), "no space left in scratch folder") {
			t.Errorf("%s: %v", what, err)
		}
	}
	full := func(dir, name string) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/dev/full", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	c := newCluster(t, text(1, 5000))
	full(filepath.Join(c.dir, "scratch", "mapreduce-1/0#1"), "run-3")
	c.memory, c.mapper = littleMemory, command("cat")
	_, err := c.runMap(context.Background(), 0)
	check("spill", err)
	c.maps()
	c.remote()
	c.attempts[0] = 2
	task := c.reduceTask(0, c.segments())
	for i := range 4 {
		full(task.Dir, fmt.Sprintf("fetched-%d", i))
	}
	err = RunReduce(context.Background(), task)
	check("shuffle", err)
}

// Cancelled attempts end, and their goroutines too.
func TestCancel(t *testing.T) {
	before := runtime.NumGoroutine()
	c := newCluster(t, text(1, 100))
	ctx, cancel := context.WithCancel(context.Background())
	c.mapper = programFunc(func(ctx context.Context, _ io.Reader, _ io.Writer) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	if _, err := c.runMap(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("map: %v", err)
	}
	c.mapper = nil
	c.attempts[0] = 0
	c.maps()
	for _, phase := range []job.Phase{job.PhaseShuffle, job.PhaseSort, job.PhaseReduce} {
		ctx, cancel := context.WithCancel(context.Background())
		task := c.reduceTask(0, c.segments())
		if phase == job.PhaseShuffle {
			task.Maps = 2 // one of them never runs
			task.Source.Open = func(ctx context.Context, loc shuffle.Location, partition int) (shuffle.Segment, error) {
				defer cancel()
				return c.reader.Open(ctx, loc, partition)
			}
		}
		task.Enter = asking(task.Progress, func(p job.Phase) error {
			if p == phase {
				cancel()
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		if err := RunReduce(ctx, task); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", phase, err)
		}
		cancel()
	}
	// Goroutines that were waited for may still have a few instructions to run.
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, were %d:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}
