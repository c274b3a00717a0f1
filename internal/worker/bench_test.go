package worker

import (
	"io"
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/wire"
)

// width is how many tasks run at once in the benchmarks, as in the product's figure.
const width = 2

// BenchmarkBagTask measures what a task of /bin/true costs from its start message
// to its end message, over real connections, with an output file for each stream.
// Compare it with BenchmarkSpawn, which does nothing but start and wait.
func BenchmarkBagTask(b *testing.B) {
	for _, bound := range []bool{false, true} {
		b.Run("bound="+strconv.FormatBool(bound), func(b *testing.B) {
			c := newCoord(b)
			cfg := c.config("a1/0")
			cfg.Log = slog.New(slog.DiscardHandler)
			if bound {
				cfg.CPUs = []int{0, 1}
			}
			p, _ := c.process(cfg)
			s := bag(b, "/bin/true")
			p.job(s, 0, 0)
			next := 0
			more := func() {
				if next < b.N {
					p.say(start(try(s.ID, next, 1), "x"))
					next++
				}
			}
			b.ResetTimer()
			for range width {
				more()
			}
			for range b.N {
				m := expect[*wire.Ended](p)
				if m.Outcome != event.Done {
					b.Fatal(m.Reason)
				}
				p.say(&wire.EndedAck{Attempt: m.Attempt})
				more()
			}
			b.StopTimer()
			p.say(&wire.Shutdown{})
			p.gone()
		})
	}
}

// BenchmarkSpawn starts /bin/true in two lanes and waits for it, and does nothing else.
func BenchmarkSpawn(b *testing.B) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	files := []uintptr{null.Fd(), null.Fd(), null.Fd()}
	l, err := newLanes()
	if err != nil {
		b.Fatal(err)
	}
	env := os.Environ()
	done := make(chan error, width)
	task := func() {
		p, err := spawn("/bin/true", []string{"true"}, "/", env, files, time.Second)
		if err == nil {
			p.wait()
		}
		done <- err
	}
	b.ResetTimer()
	for range min(width, b.N) {
		l.run(nil, -1, task)
	}
	for n := range b.N {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		if n+width < b.N {
			l.run(nil, -1, task)
		}
	}
}

// BenchmarkTaskDir compares a folder that is lent again with one that is made and removed.
func BenchmarkTaskDir(b *testing.B) {
	b.Run("lent", func(b *testing.B) {
		t := &taskDirs{root: b.TempDir()}
		for b.Loop() {
			dir, err := t.take()
			if err == nil {
				err = t.give(dir)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("made", func(b *testing.B) {
		dir := b.TempDir() + "/x"
		for b.Loop() {
			if err := unix.Mkdir(dir, 0o700); err != nil {
				b.Fatal(err)
			}
			if err := unix.Rmdir(dir); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkOutputs makes, closes and commits the two output files of a task.
func BenchmarkOutputs(b *testing.B) {
	dir := b.TempDir()
	n := 0
	for b.Loop() {
		n++
		for _, name := range []string{"/out.", "/err."} {
			a, err := openAside(dir+name+strconv.Itoa(n), job.Attempt{N: 1})
			if err == nil {
				err = a.close()
			}
			if err == nil {
				err = a.commit()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkStreaming passes data through cat, as a mapper's is passed.
func BenchmarkStreaming(b *testing.B) {
	l, err := newLanes()
	if err != nil {
		b.Fatal(err)
	}
	w := &worker{lanes: l, cfg: Config{Grace: time.Second}}
	wk := &work{spec: &job.Spec{MapReduce: &job.MapReduceSpec{}}, paths: make(map[string]string)}
	a := newAttempt(&wire.Start{}, wk, 1)
	log := &errorLog{path: b.TempDir() + "/log", prefix: defaultPrefix, meter: a.meter, count: a.meter.Counter}
	c := &command{w: w, a: a, args: []string{"cat"}, dir: b.TempDir(), stderr: log}
	const size = 256 << 20
	b.SetBytes(size)
	for b.Loop() {
		var out counted
		if err := c.Run(b.Context(), &zeros{left: size}, &out); err != nil {
			b.Fatal(err)
		}
		if out != size {
			b.Fatalf("%d bytes of %d came through", out, size)
		}
	}
}

// zeros reads as so many zero bytes.
type zeros struct{ left int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), z.left)
	z.left -= n
	return n, nil
}

// counted counts what is written to it.
type counted int

func (c *counted) Write(p []byte) (int, error) {
	*c += counted(len(p))
	return len(p), nil
}
