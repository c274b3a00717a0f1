package process

import (
	"io"
	"os"
	"testing"
	"time"

	"berth/internal/sys/probe"
)

// width is how many tasks run at once in the benchmarks, as in the product's figure.
const width = 2

// BenchmarkSpawn starts /bin/true in two lanes and waits for it, and does nothing else.
func BenchmarkSpawn(b *testing.B) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	files := []uintptr{null.Fd(), null.Fd(), null.Fd()}
	l, err := NewLanes()
	if err != nil {
		b.Fatal(err)
	}
	env := append(os.Environ(), testCookie, "BERTH_JOB_ID=bag-1", "BERTH_TASK_ID=1", "BERTH_ATTEMPT=1")
	done := make(chan error, width)
	task := func(*Lane) {
		p, err := spawn(&Command{Path: "/bin/true", Args: []string{"true"}, Dir: "/", Env: env, Grace: time.Second}, files)
		if err == nil {
			p.wait()
			starved.end(p)
		}
		done <- err
	}
	b.ResetTimer()
	for range min(width, b.N) {
		l.Run(-1, task)
	}
	for n := range b.N {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		if n+width < b.N {
			l.Run(-1, task)
		}
	}
}

// BenchmarkStreaming passes data through cat, as a mapper's is passed.
func BenchmarkStreaming(b *testing.B) {
	l, err := NewLanes()
	if err != nil {
		b.Fatal(err)
	}
	meter := probe.NewMeter(probe.Now)
	s := &Set{Meter: meter}
	log := &Log{Path: b.TempDir() + "/log", Prefix: ReportPrefix, Meter: meter, Count: meter.Counter}
	p := &Program{Set: s, Lanes: l, Find: func() (string, error) { return "/bin/cat", nil }, Log: log,
		Command: Command{Args: []string{"cat"}, Dir: b.TempDir(), Grace: time.Second}}
	const size = 256 << 20
	b.SetBytes(size)
	for b.Loop() {
		var out counted
		if err := p.Run(b.Context(), &zeros{left: size}, &out); err != nil {
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
