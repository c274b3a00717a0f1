package mapreduce

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/mapreduce/extsort"
)

// sortInput is n records of 100 bytes, printable and random.
func sortInput(n int) []byte {
	b := make([]byte, n*100)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b) // never fails
	for i := range b {
		b[i] = '!' + b[i]%94
	}
	for i := 99; i < len(b); i += 100 {
		b[i] = '\n'
	}
	return b
}

// wordInput is like text: 64 MB of words of which few are frequent, one in each line.
func wordInput() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.1, 2, 200_000)
	var b []byte
	for len(b) < 64<<20 {
		b = fmt.Appendf(b, "word%x\t1\n", z.Uint64()*2654435761%1000003)
	}
	return b
}

// benchJob runs a job over an input in n splits.
func benchJob(b *testing.B, input []byte, splits int, mapper, reducer Program, memory int64) {
	c := newCluster(b)
	path := filepath.Join(c.dir, "in")
	if err := os.WriteFile(path, input, 0o600); err != nil {
		b.Fatal(err)
	}
	size := int64(len(input))
	for i := range splits {
		from, to := size*int64(i)/int64(splits), size*int64(i+1)/int64(splits)
		c.splits = append(c.splits, job.Split{Ranges: []job.Range{{Path: path, Offset: from, Length: to - from, Size: size}}})
	}
	c.memory, c.mapper, c.reducer = memory, mapper, reducer
	c.bench(b, size)
}

// bench runs a job with two maps and two reduces at a time, as two workers would.
func (c *cluster) bench(b *testing.B, size int64) {
	c.reduces = 2
	splits := len(c.splits)
	b.SetBytes(size)
	b.ResetTimer()
	before := processCPU(b)
	for range b.N {
		c.progress, c.attempts = nil, map[int]int{}
		two(splits, func(task int) error {
			a := job.Attempt{Job: "mapreduce-1", Task: task, N: 1}
			prog := newRecord()
			return RunMap(context.Background(), MapTask{
				Task: Task{Spec: c.spec, Attempt: a, Supply: c.means(), MaxRecord: extsort.RecordLimit(c.memory), Enter: freely(prog),
					Dir: filepath.Join(c.dir, a.String()), Progress: prog},
				Split: c.splits[task], Partitions: 2, Mapper: c.mapper, Outputs: c.outputs,
			})
		})
		for task := range splits {
			c.attempts[task] = 1
		}
		two(2, func(p int) error {
			task := c.reduceTask(p, c.segments())
			if err := RunReduce(context.Background(), task); err != nil {
				return err
			}
			return c.folder(task.Left).Commit(context.Background(), 0)
		})
	}
	b.ReportMetric(float64(processCPU(b)-before)/float64(b.N)/1e6, "cpu-ms/op")
}

// processCPU returns the CPU time that the process and its children have used: unlike the wall time, it
// does not depend on the disk.
func processCPU(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	sum := u.Utime.Nano() + u.Stime.Nano()
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(sum + u.Utime.Nano() + u.Stime.Nano())
}

// two calls f for 0 … n−1, two at a time.
func two(n int, f func(i int) error) {
	next := make(chan int)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for i := range next {
				if err := f(i); err != nil {
					panic(err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
}

// BenchmarkSort sorts random records from input to part files.
func BenchmarkSort(b *testing.B) {
	benchJob(b, sortInput(256<<20/100), 4, nil, nil, 190<<20)
}

// BenchmarkSortSpills is BenchmarkSort with several spills for each map.
func BenchmarkSortSpills(b *testing.B) {
	benchJob(b, sortInput(256<<20/100), 4, nil, nil, 24<<20)
}

// BenchmarkWordCount sums many equal records.
func BenchmarkWordCount(b *testing.B) {
	benchJob(b, wordInput(), 4, cat, sumLines, 190<<20)
}

// sumLines reads lines and writes nothing.
var sumLines = programFunc(func(_ context.Context, in io.Reader, _ io.Writer) error {
	n := 0
	buf := make([]byte, 64<<10)
	for {
		m, err := in.Read(buf)
		n += bytes.Count(buf[:m], newline)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
})

// BenchmarkGoSource counts the words of the Go source tree with awk scripts. It is compared with
// cat … | awk | LC_ALL=C sort | awk.
func BenchmarkGoSource(b *testing.B) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	c := newCluster(b)
	c.memory = 190 << 20
	c.mapper = command(`awk '{for(i=1;i<=NF;i++) print $i "\t1"}'`)
	c.reducer = command(`awk -F'\t' '$1!=k {if (NR>1) print k "\t" n; k=$1; n=0} {n+=$2} END {print k "\t" n}'`)
	var files []string
	var size int64
	err = filepath.WalkDir(filepath.Join(string(bytes.TrimSpace(root)), "src"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(path) == ".go" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	const splits = 4
	for i := range splits {
		var s job.Split
		for _, path := range files[len(files)*i/splits : len(files)*(i+1)/splits] {
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			s.Ranges = append(s.Ranges, job.Range{Path: path, Length: info.Size(), Size: info.Size()})
			size += info.Size()
		}
		c.splits = append(c.splits, s)
	}
	c.bench(b, size)
}

// BenchmarkOutput writes a part in lines of 100 bytes.
func BenchmarkOutput(b *testing.B) {
	line := append(bytes.Repeat([]byte("0123456789"), 10)[:99], '\n')
	for _, codec := range []string{"", "gzip", "zstd", "bzip2"} {
		b.Run("codec="+codec, func(b *testing.B) {
			spec := &job.MapReduceSpec{Output: b.TempDir(), Compress: codec}
			const lines = 50_000
			for b.Loop() {
				o, err := NewOutput(spec, attempt(1), spec.Output, "part-00000")
				if err != nil {
					b.Fatal(err)
				}
				for range lines {
					if _, err := o.Write(line); err != nil {
						b.Fatal(err)
					}
				}
				if err := o.Close(); err != nil {
					b.Fatal(err)
				}
				o.Abort()
			}
			b.SetBytes(lines * int64(len(line)))
		})
	}
}
