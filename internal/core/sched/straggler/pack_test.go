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
