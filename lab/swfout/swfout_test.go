package swfout

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
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
	small := func(name string) int64 { return rapid.Int64Range(-largest, largest).Draw(t, name) }
	count := func(name string) int32 { return rapid.Int32().Draw(t, name) }
	last := job.Time(0)
	for i := range rapid.IntRange(0, 20).Draw(t, "jobs") {
		last = min(last+job.Time(span(0, "submit")), workload.Latest)
		l.Jobs = append(l.Jobs, swf.Job{
			Number: small("number"), Submit: last, Wait: span(-5, "wait"), Run: span(-1, "run"), CPU: span(-1, "cpu"), Request: span(-5, "request"),
			Think: span(-1, "think"), Mem: small("memory"), ReqMem: small("memory"), User: small("user"), Group: small("group"), App: small("app"),
			Queue: small("queue"), Partition: small("partition"), After: small("after"), Procs: count("procs"), ReqProcs: count("procs"), Status: count("status"),
			Line: int32(len(l.Header) + i + 1),
		})
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
