package event

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// declared returns how many types of records record.go declares, so that one that is added there is
// tested without anybody remembering to.
func declared(t *testing.T) int {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "record.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "Of" {
			n++
		}
	}
	return n
}

func TestEveryKindRoundTrips(t *testing.T) {
	if n := declared(t); n != len(records) || n < 15 {
		t.Errorf("%d records are declared, %d can be decoded", n, len(records))
	}
	for k, r := range records {
		t.Run(fmt.Sprintf("%T", r), rapid.MakeCheck(func(t *rapid.T) {
			want := drawEntry(t, r)
			if reflect.TypeOf(want.Record) != reflect.TypeOf(r) {
				t.Fatalf("no record of kind %d: %T", k, want.Record)
			}
			data, err := want.Marshal()
			if err != nil || data[headerSize-1] != k {
				t.Fatal(err)
			}
			got, err := Unmarshal(data)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("got %+v, want %+v", got, want)
			}
		}))
	}
}

func TestUnmarshalRefusesEveryPrefixAndSuffix(t *testing.T) {
	for _, e := range benchEntries() {
		data, err := e.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		for i := range data {
			if got, err := Unmarshal(data[:i]); err == nil {
				t.Errorf("%T: %d of %d bytes taken as %v", e.Record, i, len(data), got)
			}
		}
		if got, err := Unmarshal(append(data, 0xc0)); err == nil {
			t.Errorf("%T: a byte more taken as %v", e.Record, got)
		}
	}
}

func TestUnmarshalRefusesValuesOutOfRange(t *testing.T) {
	a := job.Attempt{Job: "bag-1", Task: 1, N: 1}
	tests := map[string]Record{
		"negative task":    PhaseEntered{Attempt: job.Attempt{Job: "bag-1", Task: -1}},
		"negative attempt": CommitGranted{Attempt: job.Attempt{Job: "bag-1", N: -1}},
		"unknown phase":    PhaseGranted{Attempt: a, Phase: 99},
		"unknown grant":    AttemptStarted{Attempt: a, Through: 99},
		"no outcome":       AttemptEnded{Attempt: a},
		"unknown outcome":  AttemptEnded{Attempt: a, Outcome: 77},
		"phase of a stat":  AttemptEnded{Attempt: a, Outcome: Done, Stats: []job.PhaseStat{{Phase: 99}}},
		"unknown state":    JobEnded{Job: "bag-1", State: "vanished"},
		"stopping as what": JobStopping{Job: "bag-1"},
		"negative tasks":   JobSubmitted{Work: job.Work{Tasks: -1}},
		"slow start NaN":   JobSubmitted{Work: job.Work{SlowStart: math.NaN()}},
		"expected NaN":     AttemptEnded{Attempt: a, Outcome: Done, Expected: math.NaN()},
		"curve NaN":        JobSubmitted{Work: job.Work{Curves: []job.Curve{{Marks: []float64{0, 0, math.NaN()}}}}},
		"negative output":  OutputLost{Job: "mapreduce-1", Task: -5},
	}
	for name, r := range tests {
		data, err := Entry{Seq: 1, Record: r}.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Unmarshal(data); err == nil {
			t.Errorf("%s: taken as %+v", name, got)
		}
	}
}

func TestUnmarshalRefusesUnknownKinds(t *testing.T) {
	data, err := Entry{Seq: 1, Record: JobFinalizing{Job: "bag-1"}}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	const maxKind = 0x7f // the largest positive fixint
	last := len(records)
	for _, k := range []int{0, last + 1, maxKind, 255} {
		data[headerSize-1] = byte(k)
		if got, err := Unmarshal(data); err == nil {
			t.Errorf("kind %d taken as %v", k, got)
		}
	}
	if last > maxKind {
		t.Errorf("%d kinds do not fit the header's one byte", last)
	}
}

func TestMarshalToRefusesWithoutHarm(t *testing.T) {
	buf := []byte("before")
	huge := Entry{Seq: 1, Record: OutputLost{Job: "bag-1", Reason: strings.Repeat("x", MaxSize)}}
	out, err := MarshalTo(buf, huge)
	if !errors.Is(err, errSize) || string(out) != "before" {
		t.Errorf("huge entry: %v, buffer %.20q", err, out)
	}
	if out, err = MarshalTo(buf, Entry{Seq: 1}); err == nil || string(out) != "before" {
		t.Errorf("entry without a record: %v, buffer %.20q", err, out)
	}
	if _, err := Unmarshal(make([]byte, MaxSize+1)); !errors.Is(err, errSize) {
		t.Errorf("huge input: %v", err)
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, e := range benchEntries() {
		data, err := e.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Unmarshal(data)
		if err != nil {
			return
		}
		again, err := e.Marshal()
		if err != nil {
			t.Fatalf("%v: %+v", err, e)
		}
		back, err := Unmarshal(again)
		if err != nil {
			t.Fatalf("%v: %+v", err, e)
		}
		if !sameEntry(e, back) {
			t.Fatalf("%+v became %+v", e, back)
		}
	})
}

// sameEntry compares entries; what is empty but not nil is not written and comes back nil.
func sameEntry(a, b Entry) bool {
	if r, ok := a.Record.(AttemptEnded); ok {
		if len(r.Stats) == 0 {
			r.Stats = nil
		}
		if len(r.Counters) == 0 {
			r.Counters = nil
		}
		a.Record = r
	}
	return reflect.DeepEqual(a, b)
}
