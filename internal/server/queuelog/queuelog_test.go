package queuelog

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/core/timeline"
	"berth/internal/sys/statedir"
)

const begin = job.Time(1e18)

// snapshot returns the queue a number of minutes after the beginning: job 1 runs in the first three, job 2 comes in the third.
func snapshot(minutes int) *cluster.Snapshot {
	s := &cluster.Snapshot{Driver: "slurm", At: begin.Add(time.Duration(minutes) * time.Minute), Queue: &cluster.Queue{Cluster: "c", User: "me"}}
	if minutes < 3 {
		s.Queue.Running = []cluster.Queued{{ID: "1", User: "a", Partition: "main", Count: 2, Start: begin, Limit: time.Hour}}
	}
	if minutes >= 2 {
		s.Queue.Pending = []cluster.Queued{{ID: "2", User: "b", Partition: "main", Count: 3}}
	}
	return s
}

func newLog(t *testing.T, home statedir.Home) (*Log, *bytes.Buffer) {
	t.Helper()
	var said bytes.Buffer
	return New(home, slog.New(slog.NewTextHandler(&said, nil))), &said
}

// TestNextCoordinator: what one coordinator has seen the next one continues, and commands read.
func TestNextCoordinator(t *testing.T) {
	home := statedir.Home{Dir: t.TempDir()}
	if Past(home, snapshot(0)) != nil {
		t.Error("there is a past before any look")
	}
	for minutes := range 5 {
		l, said := newLog(t, home)
		l.Observe(snapshot(minutes))
		l.Close()
		if said.Len() > 0 {
			t.Errorf("said %s", said)
		}
	}
	h, err := read(pathOf(home, snapshot(5)))
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Ended) != 1 || h.Ended[0].Nodes != 2 || (h.Ended[0].Run-150*time.Second).Abs() > time.Second {
		t.Errorf("ended: %+v", h.Ended)
	}
	if len(h.Arrived) != 1 || h.Arrived[0].Nodes != 3 || h.Arrived[0].Limit != timeline.Unbounded || h.Arrived[0].Part != cluster.Number("main") {
		t.Errorf("arrived: %+v", h.Arrived)
	}
	if p := Past(home, snapshot(5)); p == nil || p.Jobs != 1 {
		t.Errorf("past %+v", p)
	}
}

// TestOwnStarts: the last 200 starts of the user's own stay in the history of their queue, over the end of a coordinator and for longer
// than what was seen of jobs, and calibrate what commands predict.
func TestOwnStarts(t *testing.T) {
	home := statedir.Home{Dir: t.TempDir()}
	s := snapshot(0)
	s.Queue.ID = "id"
	for minutes := range 25 {
		l, _ := newLog(t, home)
		for k := range 9 {
			l.Start("slurm", "id", starts.Came{Band: starts.Band{Low: time.Minute, High: time.Hour}, Wait: time.Duration(9*minutes+k) * time.Minute})
		}
		l.Start("slurm", "another", starts.Came{Wait: time.Second})
		s.At = s.At.Add(starts.Kept)
		l.Observe(s)
		l.Close()
	}
	p := Past(home, s)
	if p == nil || len(p.Came) != 200 || p.Came[0].Wait != 25*time.Minute || p.Came[199].Wait != 224*time.Minute || p.Came[0].Band.High != time.Hour {
		t.Fatalf("past %+v", p)
	}
	if b, by := p.Calibrated(p.Came[0].Band); by != 200 || b.High < 3*time.Hour {
		t.Errorf("by %d starts the band is %v", by, b)
	}
}

// TestReplace: what accounting knows takes the place of what was seen, also when it is read twice; the user's own starts stay, and
// arrivals do if it shows no jobs of others. A coordinator goes on from there.
func TestReplace(t *testing.T) {
	home := statedir.Home{Dir: t.TempDir()}
	l, _ := newLog(t, home)
	l.Observe(snapshot(0))
	l.Start("slurm", "", starts.Came{Wait: time.Minute})
	for minutes := range 4 {
		l.Observe(snapshot(minutes + 1))
	}
	l.Close()
	s := snapshot(5)
	by := &starts.History{Since: begin.Add(-time.Hour)}
	for i := range 30 {
		by.Ended = append(by.Ended, starts.Ended{Job: starts.Job{User: 3, Nodes: 1, Limit: time.Hour}, At: begin.Add(time.Duration(i) * time.Second), Run: time.Minute})
	}
	for _, shows := range []int{0, 0, 2, 2} {
		arrived, since := 1, begin
		if by.Arrived = make([]starts.Arrived, shows); shows > 0 {
			arrived, since = shows, by.Since
			by.Arrived[0].At, by.Arrived[1].At = begin, begin
		}
		h, err := Replace(home, s, by)
		if err != nil || len(h.Ended) != 30 || len(h.Arrived) != arrived || len(h.Came) != 1 || h.Since != since {
			t.Fatalf("%d ended, %d arrived since %v, %d starts, %v", len(h.Ended), len(h.Arrived), h.Since, len(h.Came), err)
		}
	}
	if p := Past(home, s); p == nil || p.Jobs != 30 {
		t.Errorf("past %+v", p)
	}
}

// TestBroken: a file that cannot be read is set aside, told once, and the history begins anew.
func TestBroken(t *testing.T) {
	home := statedir.Home{Dir: t.TempDir()}
	path := pathOf(home, snapshot(0))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("no history"), 0o600); err != nil {
		t.Fatal(err)
	}
	if Past(home, snapshot(0)) != nil {
		t.Error("a past is read from a broken file")
	}
	l, said := newLog(t, home)
	l.Observe(snapshot(0))
	l.Observe(snapshot(1))
	l.Close()
	if n := strings.Count(said.String(), "\n"); n != 1 || !strings.Contains(said.String(), path+".broken") {
		t.Errorf("said %d lines: %s", n, said)
	}
	if b, err := os.ReadFile(path + ".broken"); err != nil || string(b) != "no history" {
		t.Errorf("set aside: %q, %v", b, err)
	}
	if _, err := read(path); err != nil {
		t.Error(err)
	}
}

// TestSmall: the largest history that is kept takes a few megabytes, and is read as it was written, to the second.
func TestSmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	h := &starts.History{Since: begin, Looked: begin}
	for i := range 50_000 {
		j := starts.Job{User: rng.Int32(), Nodes: 1 + rng.Int32N(1000), Limit: time.Duration(1+rng.IntN(1e5)) * time.Second}
		at := begin.Add(time.Duration(i) * time.Second)
		h.Ended = append(h.Ended, starts.Ended{Job: j, At: at, Run: time.Duration(1+rng.IntN(1e5)) * time.Second})
		h.Arrived = append(h.Arrived, starts.Arrived{Job: j, At: at, Part: rng.Int32()})
		if i%5 == 0 {
			h.Present = append(h.Present, starts.Seen{ID: "1234567_89", Array: "1234567", Job: j, Start: at, Copies: 1, Part: 7, Own: i%10 == 0})
		}
	}
	data, err := encode(h)
	if err != nil || len(data) > 3<<20 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	if got, err := decode(data); err != nil || !reflect.DeepEqual(got, h) {
		t.Fatalf("read otherwise than written: %v", err)
	}
}

// FuzzDecode: no file ends the program, and what is read can be used.
func FuzzDecode(f *testing.F) {
	l, h := &starts.History{}, &starts.History{}
	h.Observe(begin, snapshot(2).Seen())
	h.Observe(begin.Add(time.Minute), snapshot(3).Seen())
	for _, x := range []*starts.History{l, h} {
		b, err := encode(x)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		h, err := decode(data)
		if err != nil {
			return
		}
		h.Observe(h.Looked+1, snapshot(1).Seen())
		q := &starts.Queue{Now: h.Looked, Nodes: 4, Waiting: []starts.Job{{User: 1, Nodes: 2, Limit: time.Hour}}}
		starts.NewPast(h, h.Looked).Draw(q, 2, 1).Waits(1, time.Hour)
	})
}
