package wire

import (
	"encoding/binary"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/job/task"
	"berth/internal/core/mpack"
	"berth/internal/core/step"
	"berth/internal/sys/probe"
)

// TestEveryMessageCanBeDecoded counts the types that message.go declares, so that one that is added
// there is tested without anybody remembering to.
func TestEveryMessageCanBeDecoded(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "message.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := -2 // Progress is part of a message, and Message is all of them
	ast.Inspect(file, func(node ast.Node) bool {
		if _, ok := node.(*ast.TypeSpec); ok {
			n++
		}
		return true
	})
	if n != len(messages) || n < 18 {
		t.Errorf("%d messages are declared, %d can be decoded", n, len(messages))
	}
}

// fill sets every field of a struct to random values in their ranges.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Interface().(type) {
	case job.Phase:
		v.SetUint(uint64(rapid.IntRange(0, int(job.PhaseReduce)).Draw(t, "phase")))
		return
	case job.ProgressSource:
		v.SetUint(uint64(rapid.IntRange(0, int(job.ProgressCPU)).Draw(t, "source")))
		return
	case time.Duration:
		v.SetInt(rapid.Int64Range(0, 1<<40).Draw(t, "duration"))
		return
	case event.Lack:
		v.SetUint(uint64(rapid.IntRange(0, int(event.LackTime)).Draw(t, "lack")))
		return
	case event.Outcome:
		v.SetUint(uint64(rapid.IntRange(int(event.Done), int(event.Outgrown)).Draw(t, "outcome")))
		return
	case job.Attempt:
		v.Set(reflect.ValueOf(job.Attempt{
			Job: job.ID(rapid.String().Draw(t, "job")), Task: rapid.IntRange(0, 1e6).Draw(t, "task"), N: rapid.IntRange(0, 9).Draw(t, "n"),
		}))
		return
	case task.Spec: // its line and what it comes after are not sent
		v.Set(reflect.ValueOf(task.Spec{Name: rapid.String().Draw(t, "name"), Command: []string{"a", rapid.String().Draw(t, "argument")},
			Needs: job.Needs{CPUs: rapid.IntRange(0, 256).Draw(t, "cpus"), TimeLimit: time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "limit"))}}))
		return
	case job.Resources:
		v.Set(reflect.ValueOf(job.Resources{CPUs: rapid.IntRange(0, 256).Draw(t, "cpus"), Mem: rapid.Int64Min(0).Draw(t, "mem")}))
		return
	}
	if v.Type() == reflect.TypeFor[[]float64]() { // a curve of progress: marks whose times and counts never fall
		v.Set(reflect.ValueOf(rapid.SampledFrom([][]float64{nil, {0, 0, 0, 3.5, 10, 2}}).Draw(t, "curve")))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("msgpack") != "-" { // it is not sent
				fill(t, v.Field(i))
			}
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Slice:
		if n := rapid.IntRange(0, 4).Draw(t, "len"); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(t, v.Index(i))
			}
		}
	case reflect.Map:
		if n := rapid.IntRange(0, 3).Draw(t, "len"); n > 0 {
			v.Set(reflect.ValueOf(rapid.MapOfN(rapid.String(), rapid.Int64(), n, n).Draw(t, "map")))
		}
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "string"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case reflect.Int32:
		v.SetInt(int64(rapid.Int32().Draw(t, "int")))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "uint"))
	case reflect.Uint16:
		v.SetUint(uint64(rapid.Uint16().Draw(t, "uint")))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Byte().Draw(t, "byte")))
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(0, 1).Draw(t, "float"))
	default:
		t.Fatalf("a field of type %v", v.Type())
	}
}

// draw returns a random message of the same type.
func draw(t *rapid.T, like Message) Message {
	typ := reflect.TypeOf(like)
	if typ.Kind() == reflect.Struct {
		v := reflect.New(typ).Elem()
		fill(t, v)
		return v.Interface().(Message)
	}
	m := reflect.New(typ.Elem()).Interface().(Message)
	fill(t, reflect.ValueOf(m).Elem())
	switch m := m.(type) {
	case *Hello:
		m.Version = Version
	case *ReadOutput:
		m.Offset &= math.MaxInt64
	}
	return m
}

func TestEveryKindRoundTrips(t *testing.T) {
	for k, m := range messages {
		t.Run(strings.TrimPrefix(fmt.Sprintf("%T", m), "*wire."), rapid.MakeCheck(func(t *rapid.T) {
			want := draw(t, m)
			frame, err := AppendFrame([]byte("before"), want)
			if err != nil {
				t.Fatal(err)
			}
			frame = frame[len("before"):]
			body := frame[headerSize:]
			if int(binary.BigEndian.Uint32(frame)) != len(body) || frame[4] != k {
				t.Fatalf("header % x of a message of %d bytes", frame[:headerSize], len(body))
			}
			got, err := Decode(k, body)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("got %+v, want %+v", got, want)
			}
			for _, bad := range [][]byte{body[:len(body)-1], append(body, 0xc0), nil, {0xc0}} {
				if got, err := Decode(k, bad); err == nil {
					t.Fatalf("% x taken as %+v", bad, got)
				}
			}
		}))
	}
}

func TestDecodeRefusesValuesOutOfRange(t *testing.T) {
	a := job.Attempt{Job: "bag-1", Task: 1, N: 1}
	bad := job.Attempt{Job: "bag-1", Task: -1, N: 1}
	tests := []Message{
		&Hello{Version: Version, Running: []job.Attempt{a, bad}},
		&Hello{Version: Version, Held: []job.Attempt{bad}},
		&Hello{Version: Version, Capacity: job.Resources{CPUs: -1}},
		&Heartbeat{Progress: []Progress{{Progress: job.Progress{Attempt: a}, PhaseProgress: probe.PhaseProgress{Phase: 99}}}},
		&Heartbeat{Progress: []Progress{{Progress: job.Progress{Attempt: bad}}}},
		&Heartbeat{Progress: []Progress{{Progress: job.Progress{Attempt: a, Source: 99}}}},
		&Heartbeat{Progress: []Progress{{Progress: job.Progress{Attempt: a, N: math.Inf(1)}}}},
		&Heartbeat{Progress: []Progress{{Progress: job.Progress{Attempt: a, Fraction: math.NaN()}}}},
		&Heartbeat{Progress: []Progress{{Progress: job.Progress{Attempt: a}, PhaseProgress: probe.PhaseProgress{Part: math.NaN()}}}},
		&Heartbeat{Progress: []Progress{{Progress: job.Progress{Attempt: a}, PhaseProgress: probe.PhaseProgress{Part: math.Inf(1)}}}},
		PhaseEntered{PhaseEntered: event.PhaseEntered{Attempt: a, Phase: 99}},
		GrantWanted{Attempt: bad, Phase: job.PhaseSort},
		CommitWanted{Attempt: bad},
		Ended{AttemptEnded: event.AttemptEnded{Attempt: a}},
		Ended{AttemptEnded: event.AttemptEnded{Attempt: a, Outcome: 99}},
		FetchFailed{By: bad, Map: a},
		FetchFailed{By: a, Map: bad},
		&Start{Start: step.Start{Attempt: bad}},
		&Start{Start: step.Start{Attempt: a, Through: 99}},
		&Start{Start: step.Start{Attempt: a, Through: job.PhaseStore}, Task: &task.Spec{Command: []string{""}}},
		Kill{Attempt: bad},
		Grant{Attempt: a, Phase: 99},
		Commit{Attempt: bad},
		Locate{Attempt: bad},
		&EndedAck{Attempt: bad},
		&ReadOutput{Attempt: bad},
		&ReadOutput{Attempt: a, Offset: -1},
		&Printed{Data: make([]byte, MaxPrinted+1)},
	}
	for _, m := range tests {
		frame, err := AppendFrame(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Decode(frame[4], frame[headerSize:]); err == nil {
			t.Errorf("%T taken: %+v", m, got)
		}
	}
}

func TestHelloOfAnotherVersion(t *testing.T) {
	future := map[string]any{"v": Version + 1}
	data, err := mpack.Append(nil, future)
	if err != nil {
		t.Fatal(err)
	}
	// Fields that this version does not know follow.
	data[0] = 0x82
	data = append(data, 0xa1, 'z', 0xc3)
	got, err := Decode(kindHello, data)
	if err != nil || got.(*Hello).Version != Version+1 {
		t.Errorf("got %+v, %v", got, err)
	}
	data[3] = Version
	if got, err := Decode(kindHello, data); err == nil {
		t.Errorf("this version with an unknown field taken as %+v", got)
	}
	if got, err := Decode(kindHello+1, data); err == nil {
		t.Errorf("a heartbeat with a version taken as %+v", got)
	}
}

func TestFramesThatAreTooLarge(t *testing.T) {
	buf := []byte("before")
	out, err := AppendFrame(buf, &Job{Spec: make([]byte, MaxMessage)})
	if err == nil || string(out) != "before" {
		t.Errorf("%v, %d bytes", err, len(out))
	}
	if _, err := Decode(kindHello, make([]byte, MaxMessage+1)); err == nil || !strings.Contains(err.Error(), "the limit is") {
		t.Errorf("got %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, m := range []Message{
		&Hello{Version: Version, Node: "a1/0", Running: []job.Attempt{{Job: "bag-1", Task: 3, N: 1}}},
		&Heartbeat{Progress: []Progress{{Progress: job.Progress{Source: job.ProgressInput, N: 7, Fraction: 0.5, CPU: time.Second}, PhaseProgress: probe.PhaseProgress{Phase: job.PhaseMap, Part: 0.5, Status: "reading"}}}},
		Ended{AttemptEnded: event.AttemptEnded{Outcome: event.Failed, Stats: []job.PhaseStat{{Phase: job.PhaseFetch}}, Counters: map[string]int64{"a,b": 1}}},
		&Start{Entry: job.Entry{"x"}, Split: &job.Split{Ranges: []job.Range{{Path: "/a", Length: -1}}}},
		&Job{Spec: []byte("{}")},
		&Welcome{Heartbeat: time.Second},
	} {
		frame, err := AppendFrame(nil, m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame[4], frame[headerSize:])
	}
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		m, err := Decode(kind, data)
		if err != nil {
			return
		}
		// What was taken can be sent on, and arrives as the same.
		frame, err := AppendFrame(nil, m)
		if err != nil || frame[4] != kind {
			t.Fatalf("kind %d became %T: %v", kind, m, err)
		}
		back, err := Decode(frame[4], frame[headerSize:])
		if err != nil {
			t.Fatalf("%v: %+v", err, m)
		}
		again, err := AppendFrame(nil, back)
		if err != nil || len(again) != len(frame) {
			t.Fatalf("%+v became %+v (%v)", m, back, err)
		}
	})
}
