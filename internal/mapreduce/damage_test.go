package mapreduce

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"berth/internal/core/job"
	"berth/internal/mapreduce/extsort"
)

// text makes n lines, some of which repeat.
func text(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	var b []byte
	for range n {
		b = fmt.Appendf(b, "key%d\tvalue%d\n", r.IntN(n), r.IntN(3))
	}
	return b
}

// flip inverts a bit of a file.
func flip(t testing.TB, path string, at int64, bit int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1 << bit
	if _, err := f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
}

// A flipped bit anywhere in a map output is detected. The segment is reported as damaged, the map runs
// again, and the result is correct.
func TestFlippedBit(t *testing.T) {
	for _, remote := range []bool{false, true} {
		t.Run(fmt.Sprintf("remote=%v", remote), func(t *testing.T) {
			inputs := [][]byte{text(1, 40), text(2, 40)}
			c := newCluster(t, inputs...)
			if remote {
				c.remote()
			}
			want := dumbJob(c, inputs)[0]
			c.maps()
			seg, err := c.outputs.Open(job.Attempt{Job: "mapreduce-1", Task: 0, N: 1}, 0)
			if err != nil {
				t.Fatal(err)
			}
			path := seg.Path
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			step := 1
			if remote {
				step = 7 // the bytes are the same over HTTPS
			}
			for at := 0; at < len(good); at += step {
				c.attempts[0] = 1
				flip(t, path, int64(at), at%8)
				s := c.segments()
				got := c.reduceFrom(0, s)
				if !bytes.Equal(got, want) {
					t.Fatalf("byte %d: wrong output", at)
				}
				if len(s.bad) != 1 || s.bad[0].Attempt.Task != 0 {
					t.Fatalf("byte %d: reported bad: %v", at, s.bad)
				}
				if err := os.WriteFile(path, good, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A map output that is damaged after the phase shuffle is detected in the phases sort and reduce. No
// output written before the detection stays.
func TestDamagedLater(t *testing.T) {
	for _, phase := range []job.Phase{job.PhaseSort, job.PhaseReduce} {
		for _, reducer := range []Program{nil, cat} {
			t.Run(fmt.Sprintf("%v %T", phase, reducer), func(t *testing.T) {
				var inputs [][]byte
				for i := range 6 {
					inputs = append(inputs, text(uint64(i), 3000))
				}
				c := newCluster(t, inputs...)
				c.reducer = reducer
				if phase == job.PhaseSort {
					c.memory = littleMemory // so that the phase sort has files to merge
				}
				want := dumbJob(c, inputs)[0]
				c.maps()
				s := c.segments()
				task := c.reduceTask(0, s)
				task.Enter = asking(task.Progress, func(p job.Phase) error {
					if p == phase {
						// The last block, so that much is merged before it is detected.
						for n := range 6 {
							seg, err := c.outputs.Open(job.Attempt{Job: "mapreduce-1", Task: n, N: 1}, 0)
							if err != nil {
								return err
							}
							flip(t, seg.Path, seg.Offset+seg.Length-60, 0)
						}
					}
					return nil
				})
				err := RunReduce(context.Background(), task)
				if err != nil {
					t.Fatal(err)
				}
				if got := c.committed(task.Left); !bytes.Equal(got, want) {
					t.Errorf("wrong output: %d bytes, want %d", len(got), len(want))
				}
				if bad := len(s.bad); bad != 6 {
					t.Errorf("%d segments reported bad", bad)
				}
				if n := task.Progress.(*record).counters["REDUCE_OUTPUT_RECORDS"]; n != 18000 {
					t.Errorf("counted %d records of output", n)
				}
				if p := fmt.Sprint(task.Progress.(*record).phases); p != "[shuffle none sort none reduce]" {
					t.Errorf("phases entered: %v", p)
				}
			})
		}
	}
}

// If a file that the attempt itself has merged is damaged, it is merged again from the segments. After
// several such failures the attempt fails.
func TestDamagedRun(t *testing.T) {
	for _, times := range []int{1, 1000} {
		var inputs [][]byte
		for i := range 10 {
			inputs = append(inputs, text(uint64(i), 2000))
		}
		c := newCluster(t, inputs...)
		c.memory = littleMemory
		want := dumbJob(c, inputs)[0]
		c.maps()
		s := c.segments()
		task := c.reduceTask(0, s)
		damage := func() {
			runs, _ := filepath.Glob(filepath.Join(task.Dir, "run-*"))
			if len(runs) == 0 {
				t.Fatal("no run was made")
			}
			for _, path := range runs {
				flip(t, path, 100, 3)
			}
		}
		c.reducer = cat
		task.Enter = asking(task.Progress, func(p job.Phase) error {
			if p == job.PhaseReduce && times == 1 {
				damage()
			}
			return nil
		})
		if times > 1 {
			task.Progress = &damaging{task.Progress.(*record), damage}
		}
		err := RunReduce(context.Background(), task)
		if times > 1 {
			if err == nil || job.CodeOf(err) != job.CodeIO {
				t.Errorf("error is %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := c.committed(task.Left); !bytes.Equal(got, want) {
			t.Error("wrong output")
		}
		if n := len(s.bad); n != 0 {
			t.Errorf("%d segments reported bad", n)
		}
	}
}

// damaging damages files whenever the last merge begins.
type damaging struct {
	*record
	damage func()
}

func (d *damaging) Total(n int64) {
	d.record.Total(n)
	if d.now() == job.PhaseReduce {
		d.damage()
	}
}

// Spills and the files of their merges are checked too: a map with a damaged spill fails.
func TestDamagedSpill(t *testing.T) {
	c := newCluster(t, text(1, 5000))
	c.memory = littleMemory
	dir := filepath.Join(c.dir, "scratch")
	a := job.Attempt{Job: "mapreduce-1", N: 1}
	prog := &damagedMerge{newRecord(), func() { flip(t, filepath.Join(dir, "run-2"), 50, 1) }}
	err := RunMap(context.Background(), MapTask{
		Task: Task{Spec: c.spec, Attempt: a, Supply: c.means(), MaxRecord: extsort.RecordLimit(c.memory), Enter: freely(prog), Dir: dir,
			Progress: prog},
		Split: c.splits[0], Partitions: 1, Outputs: c.outputs,
	})
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("run-2")) {
		t.Errorf("error is %v", err)
	}
	if held := c.outputs.Held(); len(held) != 0 {
		t.Errorf("held: %v", held)
	}
}

// damagedMerge damages a file when the phase merge begins.
type damagedMerge struct {
	*record
	damage func()
}

func (d *damagedMerge) Enter(p job.Phase) {
	d.record.Enter(p)
	if p == job.PhaseMerge {
		d.damage()
	}
}
