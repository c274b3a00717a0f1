package hadoop

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"

	"berth/internal/core/job"
)

// Aggregate is the reducer and combiner "aggregate" of Hadoop Streaming
// (org.apache.hadoop.mapred.lib.aggregate). Its input lines are function:id, TAB,
// value, lines of one key together and in the order of their values. As reducer it
// writes id, separator, result; as combiner it keeps the key and writes partial results.
type Aggregate struct {
	combine   bool
	in        LineFormat
	outSep    string // before results
	maxUnique int64
}

// aggregateBuffer is the size of the buffers for reading and writing, in bytes.
const aggregateBuffer = 64 << 10

// NewAggregate returns the aggregate of a job. With combine it writes partial results.
func NewAggregate(spec *job.MapReduceSpec, combine bool) *Aggregate {
	a := &Aggregate{combine: combine, in: NewLineFormat("", 1), outSep: cmp.Or(spec.ReduceOutputSeparator, string(Separator)), maxUnique: maxUnique(spec)}
	if m := MapFormat(spec); m.Plain() {
		a.in = m // the key may contain TABs
	}
	return a
}

// maxUnique returns the number up to which UniqValueCount counts values; 0: no limit.
func maxUnique(spec *job.MapReduceSpec) int64 {
	n, _ := strconv.ParseInt(spec.Conf["mapreduce.aggregate.max.num.unique.values"], 10, 64)
	return max(n, 0)
}

// Run aggregates the groups of in one after the other.
func (a *Aggregate) Run(in io.Reader, out io.Writer) error {
	g := &aggregation{Aggregate: a, out: bufio.NewWriterSize(out, aggregateBuffer)}
	if err := eachLine(in, g.add); err != nil {
		return err
	}
	if err := g.flush(); err != nil {
		return err
	}
	return g.out.Flush()
}

// eachLine calls do for each line of in, without its newline. The line is valid during the call.
func eachLine(in io.Reader, do func(line []byte) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, aggregateBuffer), math.MaxInt)
	lines.Split(func(b []byte, end bool) (int, []byte, error) {
		line, _, ended := bytes.Cut(b, []byte{'\n'})
		switch {
		case ended:
			return len(line) + 1, line, nil
		case end && len(b) > 0:
			return len(b), b, nil
		}
		return 0, nil, nil
	})
	for lines.Scan() {
		if err := do(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// aggregation is a run of aggregate, with the present group and its aggregator.
type aggregation struct {
	*Aggregate
	out   *bufio.Writer
	lines int64 // read
	key   []byte
	agg   aggregator // nil: no group yet
	text  []byte     // scratch
}

// add adds one line to its group.
func (g *aggregation) add(line []byte) error {
	g.lines++
	n := g.in.KeyLen(line)
	key, value := line[:n], bytes.TrimPrefix(line[n:], g.in.Sep)
	if g.agg == nil || !bytes.Equal(key, g.key) {
		if err := g.flush(); err != nil {
			return err
		}
		function, _, ok := bytes.Cut(key, []byte(":"))
		agg := g.start(string(function))
		if !ok || agg == nil {
			return g.refuse(line, "names no aggregator", "write function:id as key, with one of "+aggregatorNames)
		}
		g.key, g.agg = append(g.key[:0], key...), agg
	}
	if err := g.agg.add(value); err != nil {
		return g.refuse(line, fmt.Sprintf("has no value that can be aggregated (%v)", err), "write a number as value")
	}
	return nil
}

// start returns a new aggregator, or nil if there is none with this name.
func (g *aggregation) start(function string) aggregator {
	agg := newAggregator(function)
	if u, ok := agg.(*uniqueCount); ok {
		u.limit = g.maxUnique
		if g.combine {
			u.emit = g.emit
		}
	}
	return agg
}

// refuse returns the error for a line that aggregate cannot process.
func (g *aggregation) refuse(line []byte, what, do string) error {
	const shown = 80
	text, more := line, ""
	if len(text) > shown {
		text, more = text[:shown], "…"
	}
	return job.UserError("aggregate", fmt.Sprintf("line %d, %q%s, %s", g.lines, text, more, what), do)
}

// flush writes the group's result.
func (g *aggregation) flush() error {
	if g.agg == nil {
		return nil
	}
	if g.combine {
		return g.agg.partial(g.emit)
	}
	_, id, _ := bytes.Cut(g.key, []byte(":"))
	g.text = append(append(g.text[:0], id...), g.outSep...)
	g.text = append(g.agg.report(g.text), '\n')
	_, err := g.out.Write(g.text)
	return err
}

// emit writes a partial result under the group's key.
func (g *aggregation) emit(value []byte) error {
	g.text = append(append(g.text[:0], g.key...), g.outSep...)
	g.text = append(append(g.text, value...), '\n')
	_, err := g.out.Write(g.text)
	return err
}
