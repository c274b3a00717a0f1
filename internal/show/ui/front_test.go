package ui

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"berth/internal/core/plan/front"
)

func sampleFront() front.View {
	chosen := 2
	return front.View{Tipping: 1, Chosen: &chosen, Epsilon: 0.01, Front: []front.Point{
		{Cost: 1, Makespan: 7200, Low: 7000, Up: 7400, Use: 0.25, Machines: map[string]int{"m1": 2}},
		{Cost: 1.5, Makespan: 3600, Low: 3500, Up: 3700, Use: 0.5, Simple: 3540, Machines: map[string]int{"m1": 4, "c<1\x1b": 1}},
		{Cost: 3, Makespan: 3000, Low: 2900, Up: 3100, Use: 1, Machines: map[string]int{"m1": 9}},
	}}
}

// TestFront: a row for each point, the marks, the drawing, and no character that would command a terminal.
func TestFront(t *testing.T) {
	var b strings.Builder
	if err := Front(&b, sampleFront()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1.00", "2h", "m1=2", "T  1.50", ">  3.00", "c<1^[=1 m1=4", "SIMPLE", "59m", "100 %", "1 %", "+----"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("an escape went through")
	}
}

// TestFrontShowsFew: a long front has the marked points and others, and says how many.
func TestFrontShowsFew(t *testing.T) {
	v := front.View{Tipping: 517}
	for i := range 1000 {
		v.Front = append(v.Front, front.Point{Cost: float64(i), Makespan: float64(2000 - i), Machines: map[string]int{"a": i}})
	}
	var b strings.Builder
	if err := Front(&b, v); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a=0\n", "a=517", "a=999", "of 1,000 points"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestFrontSVG: the drawing is XML, whatever types are called, also without points.
func TestFrontSVG(t *testing.T) {
	for _, v := range []front.View{sampleFront(), {}} {
		var b strings.Builder
		if err := FrontSVG(&b, v); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(strings.NewReader(b.String()))
		var err error
		for err == nil {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%v in\n%s", err, b.String())
		}
		if got := strings.Count(b.String(), "<circle"); got != len(v.Front) {
			t.Errorf("%d points, want %d", got, len(v.Front))
		}
	}
}

// TestNarrowFront: in a narrow terminal no line of a front is wider than that.
func TestNarrowFront(t *testing.T) {
	var b strings.Builder
	if err := Front(&wrapper{out: &b, width: 50}, sampleFront()); err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(b.String()) {
		if columns(strings.TrimRight(l, "\n")) > 50 {
			t.Errorf("a line is too wide: %q", l)
		}
	}
}
