package straggler

import (
	"testing"
	"time"

	"berth/internal/core/job"
)

// TestPack: a curve that was packed and unpacked has the same end and nearly the same shape, in few numbers.
func TestPack(t *testing.T) {
	track := &Track{}
	for i := 1; i <= 300; i++ {
		track.Add(time.Duration(i)*2*time.Second, job.Progress{Source: job.ProgressHits, N: float64(i * i), Fraction: -1, CPU: time.Duration(i) * time.Second})
	}
	numbers := track.Pack()
	if len(numbers) > 3*packed || len(numbers)%3 != 0 {
		t.Fatalf("%d numbers", len(numbers))
	}
	back := Unpack(job.ProgressHits, numbers)
	if back.Source != track.Source || back.Now != track.Now {
		t.Errorf("ends at %+v, want %+v", back.Now, track.Now)
	}
	whole, few := track.Curve.shape(), back.Curve.shape()
	for n := 0.0; n <= 90000; n += 1000 {
		x, _ := whole.inverse(n)
		y, _ := few.inverse(n)
		if d := x - y; d > 15 || d < -15 {
			t.Errorf("the count %v comes after %v s, not %v s", n, y, x)
		}
	}
	if (*Track)(nil).Pack() != nil || Unpack(job.ProgressHits, nil) != nil {
		t.Error("nothing becomes something")
	}
}

// TestRecordToTheEnd: the curve that is recorded of an attempt reaches to its end, and not to its last measurement alone, which is earlier.
func TestRecordToTheEnd(t *testing.T) {
	track := &Track{}
	for _, at := range []time.Duration{2 * time.Second, 4 * time.Second, 6 * time.Second} {
		track.Add(at, job.Progress{Source: job.ProgressHits, N: at.Seconds(), Fraction: -1})
	}
	past := Past{}
	back := Unpack(job.ProgressHits, past.Record(7500*time.Millisecond, track, job.ProgressHits))
	if back == nil || back.Now.T != 7500*time.Millisecond || back.Now.N != 6 {
		t.Errorf("the recorded curve is %+v", back)
	}
	if past.Record(8*time.Second, track, job.ProgressCPU) != nil {
		t.Error("a curve is recorded of another measure than that at the end")
	}
}
