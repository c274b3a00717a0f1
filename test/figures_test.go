package test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/lab/paired"
)

// The benchmarks for lab/results/performance.md. Each runs berth and another program in
// turn, so that both see the same state of the machine, and reports the median of the ratios with its 95 % interval by
// bootstrap. Targets are in scripts/bench.awk, which makes the tables.

// pair times ours and a peer in turn and reports the median ratio. What was written before is on the disk when either begins: sort leaves a
// gigabyte to the kernel, and berth would wait for that when it makes its own output durable.
func pair(b *testing.B, name string, ours, peer func() time.Duration) {
	b.Helper()
	var ratios, mine, others []float64
	for b.Loop() {
		unix.Sync()
		theirs := peer().Seconds()
		unix.Sync()
		took := ours().Seconds()
		ratios, mine, others = append(ratios, took/theirs), append(mine, took), append(others, theirs)
	}
	b.ReportMetric(0, "ns/op") // the sum of both has no meaning
	b.ReportMetric(median(mine), "s/berth")
	b.ReportMetric(median(others), "s/"+name)
	reportMedian(b, ratios, "ratio")
}

// reportMedian reports the median of values and the ends of its interval.
func reportMedian(b *testing.B, values []float64, unit string) {
	d := paired.Of(values)
	b.ReportMetric(d.Median, unit)
	b.ReportMetric(d.Low, unit+"/low")
	b.ReportMetric(d.High, unit+"/high")
}

func median(xs []float64) float64 { return paired.Of(xs).Median }

// shell times a shell command in the world's folder.
func shell(b *testing.B, w *world, script string) time.Duration {
	b.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Stderr = w.dir, os.Stderr
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s: %v", script, err)
	}
	return time.Since(begun)
}

// timed measures berth on a machine without a running coordinator.
func timed(b *testing.B, w *world, args ...string) time.Duration {
	b.Helper()
	w.berth("server", "stop", "--force")
	w.await("the coordinator to end", func() bool { return len(w.berths(coordinatorRole)) == 0 })
	cmd := w.command(args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatalf("berth %s: %v\n%s", strings.Join(args, " "), err, said.String())
	}
	return time.Since(begun)
}

const bagTasks = 10000

var trueBag = []string{"bag", "--array", fmt.Sprintf("1-%d", bagTasks), "--stdout", "none", "--stderr", "none", "--", "/bin/true"}

// BenchmarkBagOne runs a bag of one task beside a coordinator that runs already, and without one. It reports milliseconds
// until the command ends.
func BenchmarkBagOne(b *testing.B) {
	one := append([]string{"bag", "--array", "1"}, trueBag[3:]...)
	for _, name := range []string{"beside", "alone"} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b)
			w.must(one...)
			var took []float64
			for b.Loop() {
				if name == "alone" {
					took = append(took, timed(b, w, one...).Seconds()*1000)
				} else {
					took = append(took, each(w, one).Seconds()*1000)
				}
			}
			b.ReportMetric(0, "ns/op")
			reportMedian(b, took, "ms")
		})
	}
}

// BenchmarkBagXargs runs 10,000 tasks of /bin/true beside xargs -P2 -n1.
func BenchmarkBagXargs(b *testing.B) {
	w := newWorld(b)
	pair(b, "xargs", func() time.Duration { return timed(b, w, trueBag...) },
		func() time.Duration { return shell(b, w, fmt.Sprintf("seq %d | xargs -P2 -n1 /bin/true", bagTasks)) })
}

// BenchmarkBagXargsKept is BenchmarkBagXargs with every task's output kept in files, which is berth's default.
func BenchmarkBagXargsKept(b *testing.B) {
	w := newWorld(b)
	kept := []string{"bag", "--array", fmt.Sprintf("1-%d", bagTasks), "--", "/bin/true"}
	pair(b, "xargs", func() time.Duration { return timed(b, w, kept...) },
		func() time.Duration { return shell(b, w, fmt.Sprintf("seq %d | xargs -P2 -n1 /bin/true", bagTasks)) })
}

// BenchmarkBagParallel compares with GNU parallel.
func BenchmarkBagParallel(b *testing.B) {
	w := newWorld(b)
	pair(b, "parallel", func() time.Duration { return timed(b, w, trueBag...) },
		func() time.Duration { return shell(b, w, fmt.Sprintf("seq %d | parallel -j2 /bin/true", bagTasks)) })
}

// BenchmarkSort sorts 1 GiB of 100-byte records, beside sort with the same memory.
func BenchmarkSort(b *testing.B) {
	w := newWorld(b)
	records(b, filepath.Join(w.dir, "records"), 1<<30/100)
	n := 0
	pair(b, "sort", func() time.Duration {
		n++
		out := "sorted" + strconv.Itoa(n)
		took := timed(b, w, "mapreduce", "--sort-memory", "512M", "-input", "records", "-output", out,
			"-mapper", "org.apache.hadoop.mapred.lib.IdentityMapper", "-reducer", "org.apache.hadoop.mapred.lib.IdentityReducer",
			"-numReduceTasks", "2")
		checkSorted(b, w, out)
		return took
	}, func() time.Duration {
		return shell(b, w, "LC_ALL=C sort -S 512M --parallel=2 -T . -o by-sort records")
	})
}

// checkSorted fails unless the merged parts equal the output of sort.
func checkSorted(b *testing.B, w *world, out string) {
	b.Helper()
	shell(b, w, "LC_ALL=C sort -m "+out+"/part-* | cmp - by-sort && rm -r "+out)
}

// records writes n records of 99 random letters and digits and a newline.
func records(b *testing.B, path string, n int) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	w := bufio.NewWriterSize(f, 1<<20)
	rng := rand.NewChaCha8([32]byte{1})
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
	rec := make([]byte, 100)
	for range n {
		for i := 0; i < 99; i += 8 {
			var raw [8]byte
			binary.LittleEndian.PutUint64(raw[:], rng.Uint64())
			for k := i; k < min(i+8, 99); k++ {
				rec[k] = alphabet[raw[k-i]&63]
			}
		}
		rec[99] = '\n'
		if _, err := w.Write(rec); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkWordCount counts the words of the Go toolchain's source with awk scripts.
// The peer is the pipeline of cat, mapper, sort and reducer.
func BenchmarkWordCount(b *testing.B) {
	w := newWorld(b)
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	// A copy of the Go files alone, without carriage returns: berth unpacks compressed files and ends a line at a carriage
	// return, as Hadoop does, and cat and awk do neither.
	src := filepath.Join(w.dir, "src")
	shell(b, w, "mkdir src && tar cf - -C "+strings.TrimSpace(string(goroot))+"/src . | tar xf - -C src && find src -type f ! -name '*.go' -delete && "+
		`find src -type f -exec grep -lZ "$(printf '\r')" {} + | xargs -0r rm`)
	w.write("map.awk", `{ for (i = 1; i <= NF; i++) print $i "\t1" }`+"\n")
	w.write("reduce.awk", `($1 "") != w { if (NR > 1) print w "\t" s; w = $1 ""; s = 0 } { s += $2 } END { if (NR) print w "\t" s }`+"\n")
	find := "find " + src + ` -mindepth 1 -name '[._]*' -prune -o -type f -print0 | xargs -0 `
	const rest = ` | awk -f map.awk | LC_ALL=C sort | awk -F '\t' -f reduce.awk`
	// The reference ends each file's last line, which cat does not.
	shell(b, w, find+"awk 1"+rest+" | LC_ALL=C sort >by-pipeline")
	n := 0
	pair(b, "pipeline", func() time.Duration {
		n++
		out := "counts" + strconv.Itoa(n)
		took := timed(b, w, "mapreduce", "-input", src, "-output", out,
			"-mapper", "awk -f map.awk", "-reducer", `awk -F \t -f reduce.awk`)
		shell(b, w, "LC_ALL=C sort "+out+"/part-* | cmp - by-pipeline && rm -r "+out)
		return took
	}, func() time.Duration { return shell(b, w, find+"cat"+rest+" >raw") })
}
