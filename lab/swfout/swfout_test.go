package swfout

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/simulate/workload"
	"berth/internal/simulate/workload/swf"
)

// largest is the largest value of a field, which fits 64 bits as nanoseconds.
const largest = math.MaxInt64/1_000_000_000 - 1

// drawLog draws any log that Read could return.
func drawLog(t *rapid.T) *swf.Log {
	l := &swf.Log{}
	for range rapid.IntRange(0, 3).Draw(t, "comments") {
		l.Header = append(l.Header, rapid.StringMatching(`[ \t]{0,2};[ -~ü]{0,20}`).Draw(t, "comment"))
	}
	span := func(low int64, name string) time.Duration {
		whole := rapid.Int64Range(low, 1<<32-1).Draw(t, name)
		return time.Duration(whole)*time.Second + time.Duration(rapid.SampledFrom([]int64{0, 0, 1, 500_000_000, 999_999_999, 120_000}).Draw(t, "nanos"))*time.Duration(max(min(whole, 1), 0))
	}
	last := time.Duration(0)
	for i := range rapid.IntRange(0, 20).Draw(t, "jobs") {
		last = min(last+span(0, "submit"), time.Duration(workload.Latest))
		f := swf.Fields{swf.Submit: last, swf.Wait: span(-5, "wait"), swf.Run: span(-1, "run"), swf.CPU: span(-1, "cpu"), swf.Request: span(-5, "request"), swf.Think: span(-1, "think")}
		for _, k := range []int{swf.Number, swf.Mem, swf.ReqMem, swf.UserID, swf.Group, swf.App, swf.Queue, swf.Partition, swf.After} {
			f[k] = time.Duration(rapid.Int64Range(-largest, largest).Draw(t, "number")) * time.Second
		}
		for _, k := range []int{swf.Procs, swf.ReqProcs, swf.Status} {
			f[k] = time.Duration(rapid.Int32().Draw(t, "count")) * time.Second
		}
		l.Jobs = append(l.Jobs, swf.Job{Fields: f, Line: int32(len(l.Header) + i + 1)})
	}
	return l
}

// TestRoundTrip checks that a written log is read unchanged.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawLog(t)
		var b bytes.Buffer
		if err := Write(&b, want); err != nil {
			t.Fatal(err)
		}
		got, err := swf.Read(&b, "", swf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Jobs, want.Jobs) || !slices.Equal(got.Header, want.Header) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
	})
}

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

func TestWriteFails(t *testing.T) {
	cause := errors.New("disk full")
	if err := Write(full{cause}, &swf.Log{Header: swf.Header{";"}}); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}
