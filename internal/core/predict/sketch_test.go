package predict

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func genDurations(t *rapid.T, label string) []float64 {
	exp := rapid.Map(rapid.Float64Range(-12, 7), func(x float64) float64 { return math.Pow(10, x) })
	return rapid.SliceOfN(rapid.OneOf(rapid.Just(0.0), exp), 0, 200).Draw(t, label)
}

func sketchOf(values ...float64) *Sketch {
	s := &Sketch{}
	for _, v := range values {
		s.Add(v)
	}
	return s
}

// TestQuantilesAreAccurate: against sorted values, every quantile is within the
// promised relative error, or within a nanosecond of zero.
func TestQuantilesAreAccurate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := genDurations(t, "durations")
		s := sketchOf(values...)
		slices.Sort(values)
		if !s.Sound() {
			t.Fatalf("unsound: %+v", s)
		}
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		got := s.Quantile(q)
		if len(values) == 0 {
			if got != 0 {
				t.Fatalf("quantile of nothing is %g", got)
			}
			return
		}
		want := values[int(q*float64(len(values)-1))]
		if math.Abs(got-want) > Accuracy*want*(1+1e-6)+tiny {
			t.Fatalf("quantile %g of %v = %g, want %g", q, values, got, want)
		}
	})
}

// TestMergeIsAsOne: sketches of two parts merge, in either order, into that of the whole.
func TestMergeIsAsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genDurations(t, "a"), genDurations(t, "b")
		whole := sketchOf(append(slices.Clone(a), b...)...)
		ab, ba := sketchOf(a...), sketchOf(b...)
		ab.Merge(sketchOf(b...))
		ba.Merge(sketchOf(a...))
		for _, got := range []*Sketch{ab, ba} {
			if got.Count != whole.Count || got.Min != whole.Min || got.Max != whole.Max ||
				!reflect.DeepEqual(got.Histogram, whole.Histogram) || math.Abs(got.Sum-whole.Sum) > 1e-9*whole.Sum {
				t.Fatalf("merged %+v, whole %+v", got, whole)
			}
		}
	})
}

func TestSketchMoments(t *testing.T) {
	s := sketchOf(1, 2, 3, 4, math.NaN(), -5)
	if s.Count != 6 || s.Mean() != 10.0/6 || s.Min != 0 || s.Max != 4 {
		t.Errorf("got %+v", s)
	}
	// variance: (1+4+9+16)/6 − (10/6)²  = 5 − 25/9 = 20/9
	if got, want := s.StdDev(), math.Sqrt(20.0/9); math.Abs(got-want) > 1e-12 {
		t.Errorf("StdDev = %g, want %g", got, want)
	}
}

func TestHistogramRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &sketchOf(genDurations(t, "durations")...).Histogram
		b, err := h.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var got Histogram
		if err := got.UnmarshalBinary(b); err != nil {
			t.Fatalf("%x: %v", b, err)
		}
		if !reflect.DeepEqual(&got, h) {
			t.Fatalf("got %+v, want %+v", got, h)
		}
		if err := got.UnmarshalBinary(b[:len(b)-1]); err == nil {
			t.Fatalf("%x: a byte less was taken", b[:len(b)-1])
		}
	})
}

// TestHistogramStaysSmall: a million durations over six decades fit some kilobytes.
func TestHistogramStaysSmall(t *testing.T) {
	var s Sketch
	for i := range 1_000_000 {
		s.Add(math.Pow(10, float64(i%6000)/1000-3))
	}
	b, err := s.Histogram.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 4096 {
		t.Errorf("%d bytes", len(b))
	}
}

func FuzzHistogram(f *testing.F) {
	for _, s := range []*Sketch{sketchOf(), sketchOf(0, 1e-9, 1, 2, 1e9), sketchOf(1, 1, 1)} {
		b, err := s.Histogram.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{1, 0, 0, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Histogram
		if h.UnmarshalBinary(b) != nil {
			return
		}
		again, err := h.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var h2 Histogram
		if err := h2.UnmarshalBinary(again); err != nil || !reflect.DeepEqual(h, h2) {
			t.Fatalf("%x became %x: %v", b, again, err)
		}
		if len(again) > len(b) || (len(again) == len(b)) != bytes.Equal(again, b) {
			t.Fatalf("%x is not the shortest form: %x", b, again)
		}
		h.at(float64(h.total()) / 2)
	})
}

func BenchmarkSketchAdd(b *testing.B) {
	var s Sketch
	for i := range b.N {
		s.Add(float64(i%1000) / 100)
	}
}
