package straggler

import (
	"time"

	"berth/internal/core/job"
)

// packed is the maximum number of marks of a recorded curve.
const packed = 32

// Pack returns the curve of the track as the numbers of event.AttemptEnded, or nil if the curve is too short.
func (t *Track) Pack() []float64 {
	if t == nil || t.Source == job.ProgressNone || len(t.Curve) < 3 {
		return nil
	}
	every := (len(t.Curve) + packed - 2) / (packed - 1)
	var out []float64
	for i, m := range t.Curve {
		if i%every == 0 || i == len(t.Curve)-1 {
			out = append(out, m.T.Seconds(), m.N, m.CPU.Seconds())
		}
	}
	return out
}

// Unpack returns the track of numbers that Pack returned, nil for none.
func Unpack(source job.ProgressSource, numbers []float64) *Track {
	if len(numbers) < 9 {
		return nil
	}
	t := &Track{}
	for i := 3; i+2 < len(numbers); i += 3 {
		t.Add(job.Seconds(numbers[i]), job.Progress{Source: source, N: numbers[i+1], Fraction: -1,
			CPU: time.Duration(numbers[i+2] * float64(time.Second))})
	}
	return t
}

// AddEarlier adds those curves of earlier runs that belong to tasks of the kind.
func (p *Past) AddEarlier(curves []job.Curve, kind job.TaskKind) {
	for _, c := range curves {
		if c.Kind != kind {
			continue
		}
		if r, ok := Unpack(c.Source, c.Marks).reference(0); ok {
			p.Earlier = append(p.Earlier, r)
		}
	}
}

// Record returns the numbers to record for the curve of an attempt that is done, up to its end, so that the next coordinator can compare with
// it. It returns them for the first few attempts and for ever fewer after those. source is what measured the attempt at its end.
func (p *Past) Record(took time.Duration, t *Track, source job.ProgressSource) []float64 {
	r, ok := t.reference(took)
	if !ok || r.Source != source || p.Done >= mostReferences && p.Done&(p.Done-1) != 0 {
		return nil
	}
	return (&Track{Source: r.Source, Curve: r.Curve}).Pack()
}
