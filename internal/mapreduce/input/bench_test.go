package input

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"berth/internal/core/job"
)

// BenchmarkOpenSplit reads input from the page cache: one large file, many small
// ones, and compressed ones. The bytes are those returned.
func BenchmarkOpenSplit(b *testing.B) {
	dir := b.TempDir()
	line := bytes.Repeat([]byte("0123456789"), 10)
	line[99] = '\n'
	text := bytes.Repeat(line, 64*mib/len(line))
	large := filepath.Join(dir, "large")
	writeFile(b, large, text)
	var small []string
	for i := range 2000 {
		small = append(small, filepath.Join(dir, fmt.Sprintf("small%04d", i)))
		writeFile(b, small[i], text[:8000])
	}
	cases := map[string]job.Split{"large": whole(b, large), "small": whole(b, small...)}
	for i := range codecs {
		path := large + codecs[i].Suffix
		writeFile(b, path, packed(b, &codecs[i], text[:8*mib]))
		cases[codecs[i].Name] = whole(b, path)
	}
	for _, name := range []string{"large", "small", "gzip", "zstd", "bzip2"} {
		b.Run(name, func(b *testing.B) {
			var n int64
			buf := make([]byte, 256<<10)
			for b.Loop() {
				var prog tally
				r, err := OpenSplit(context.Background(), cases[name], &job.MapReduceSpec{}, nil, &prog)
				if err != nil {
					b.Fatal(err)
				}
				n = 0
				for m := 0; err == nil; n += int64(m) {
					m, err = r.Read(buf)
				}
				if err != io.EOF {
					b.Fatal(err)
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(n)
		})
	}
}

// BenchmarkPlanSplits finds and packs 10,000 small files.
func BenchmarkPlanSplits(b *testing.B) {
	dir := b.TempDir()
	files := map[string]int64{}
	for i := range 10_000 {
		files[fmt.Sprintf("d%03d/f%04d", i/100, i)] = int64(i % 5000)
	}
	tree(b, dir, files)
	for b.Loop() {
		if _, sum, err := PlanSplits(&job.MapReduceSpec{Inputs: []string{dir}}, SplitOptions{Slots: 2}); err != nil || sum.Files != len(files) {
			b.Fatal(sum, err)
		}
	}
}
