package batsim_test

import (
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/lab/batsim"
)

func TestWrite(t *testing.T) {
	at := func(s float64) job.Time { return job.Time(s * 1e9) }
	jobs := []batsim.Job{
		{ID: 7, Profile: "75", Submit: at(10), Nodes: 3, Request: time.Minute, Start: at(12.5), Finish: at(32.5)},
		{ID: 8, Profile: `a "b", c`, Submit: at(11), Nodes: 1, Request: time.Minute, Start: at(11), Finish: at(71), Killed: true},
		{ID: 9, Submit: at(12), Nodes: 1, Request: 1, Start: at(12), Finish: at(12)},
	}
	var b strings.Builder
	if err := batsim.Write(&b, "my,log", slices.Values(jobs)); err != nil {
		t.Fatal(err)
	}
	want := batsim.Columns + `
7,"my,log",75,10,3,60,1,COMPLETED_SUCCESSFULLY,12.5,20,32.5,2.5,22.5,1.125000,,-1,
8,"my,log","a ""b"", c",11,1,60,0,COMPLETED_WALLTIME_REACHED,11,60,71,0,60,1.000000,,-1,
9,"my,log",,12,1,0.000000001,1,COMPLETED_SUCCESSFULLY,12,0,12,0,0,,,-1,
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || len(rows) != 4 || len(rows[0]) != 17 || rows[2][2] != `a "b", c` {
		t.Errorf("read back: %q, %v", rows, err)
	}
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteFails(t *testing.T) {
	if err := batsim.Write(full{}, "", slices.Values([]batsim.Job{})); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}
