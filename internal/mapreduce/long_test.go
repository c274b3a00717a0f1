package mapreduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// endless writes a line that does not end, in pieces, until a write fails.
var endless = programFunc(func(_ context.Context, _ io.Reader, out io.Writer) error {
	for piece := bytes.Repeat([]byte("x"), 100_000); ; {
		if _, err := out.Write(piece); err != nil {
			return err
		}
	}
})

// A line may be as long as half of the memory of an attempt. A longer line of any program is refused as
// soon as it is too long, and the attempt does not use more memory than it is allowed.
func TestLongLines(t *testing.T) {
	const memory, limit = 4 << 20, 2 << 20
	line := func(n int) []byte { return append(bytes.Repeat([]byte("x"), n), '\n') }
	for name, test := range map[string]struct {
		in                        []byte
		mapper, combiner, reducer Program
		separator                 string
		from                      string // empty: the job succeeds
	}{
		"as long as may be":        {in: line(limit - 1), mapper: cat, combiner: cat, reducer: cat},
		"input, handed on":         {in: line(limit + 1), mapper: nil, from: "mapper"},
		"written by a command":     {in: line(limit + 1), mapper: cat, from: "mapper"},
		"without end":              {mapper: endless, from: "mapper"},
		"after others":             {in: append(bytes.Repeat([]byte("a\tb\n"), 500_000), line(limit+1)...), mapper: cat, from: "mapper"},
		"map-only, to be parted":   {mapper: endless, separator: ",", from: "mapper"},
		"written by a combiner":    {in: line(1), mapper: cat, combiner: endless, from: "combiner"},
		"written by a reducer":     {in: line(1), mapper: cat, reducer: endless, separator: ",", from: "reducer"},
		"mapper's separator is ,,": {mapper: endless, separator: ",,", from: "mapper"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.in)
			c.memory, c.mapper, c.combiner = memory, test.mapper, test.combiner
			if test.reducer != nil {
				c.reducer = test.reducer
			}
			if test.separator != "" {
				c.spec.MapOutputSeparator, c.spec.ReduceOutputSeparator = test.separator, test.separator
			}
			if strings.HasPrefix(name, "map-only") {
				c.reduces = 0
			}
			_, err := c.runMap(context.Background(), 0)
			if err == nil {
				err = RunReduce(context.Background(), c.reduceTask(0, c.segments()))
			}
			var refused *job.Error
			switch {
			case test.from == "":
				if err != nil {
					t.Error(err)
				}
			case !errors.As(err, &refused) || refused.Class != job.User || refused.Code != job.CodeIO || refused.Where != test.from ||
				!strings.Contains(refused.What, fmt.Sprintf("a record may have %d", limit)):
				t.Errorf("got %v", err)
			}
			for _, r := range c.progress {
				if r.memory > memory+limit/2 {
					t.Errorf("%d bytes held, with %d allowed", r.memory, memory)
				}
			}
		})
	}
}
