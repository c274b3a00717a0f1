// Command counts draws the progress of a job's attempts over time from journals, one panel a journal, as an SVG: how much of an attempt's count
// was reached when how much of its time was over. A straight line is even progress.
//
//	go run ./lab/counts TITLE=JOURNAL … > counts.svg
package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"berth/internal/core/event"
	"berth/internal/server/journal"
	"berth/lab/draw"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "counts: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("no TITLE=JOURNAL is named")
	}
	var row []draw.Chart
	for _, arg := range args {
		title, path, named := strings.Cut(arg, "=")
		if !named {
			return fmt.Errorf("%s is not of the form TITLE=JOURNAL", arg)
		}
		c, err := chart(title, path)
		if err != nil {
			return err
		}
		row = append(row, c)
	}
	svg, err := draw.Charts([][]draw.Chart{row}).SVG()
	if err == nil {
		_, err = os.Stdout.Write(svg)
	}
	return err
}

// chart draws the curves of the attempts that a journal has, and prints how far each is from even progress.
func chart(title, path string) (draw.Chart, error) {
	c := draw.Chart{Title: title, X: "time of the attempt (%)", Y: "its count (%)", Width: 100, Height: 100}
	c.Series = append(c.Series, draw.Series{Name: "even", X: []float64{0, 100}, Y: []float64{0, 100}, NoMarkers: true})
	_, err := journal.Replay(path, func(e event.Entry) error {
		r, ended := e.Record.(event.AttemptEnded)
		if !ended || len(r.Curve) < 9 {
			return nil
		}
		last, off := r.Curve[len(r.Curve)-3:], 0.0
		s := draw.Series{Name: "an attempt", NoMarkers: true}
		for i := 0; i+2 < len(r.Curve); i += 3 {
			x, y := 100*r.Curve[i]/last[0], 100*r.Curve[i+1]/last[1]
			s.X, s.Y, off = append(s.X, x), append(s.Y, y), max(off, math.Abs(y-x))
		}
		c.Series = append(c.Series, s)
		fmt.Fprintf(os.Stderr, "%s: %s, %.1f s, %.0f counted, at most %.1f points from even\n", title, r.Attempt, last[0], last[1], off)
		return nil
	})
	if err == nil && len(c.Series) == 1 {
		err = fmt.Errorf("%s has no curve of an attempt", path)
	}
	return c, err
}
