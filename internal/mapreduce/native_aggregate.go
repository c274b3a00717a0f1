package mapreduce

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"berth/internal/job"
)

// aggregate is the reducer and combiner "aggregate" of Hadoop Streaming
// (org.apache.hadoop.mapred.lib.aggregate). Its input lines are
// function:id, separator, value, lines of one key together and in the order of
// their values. As reducer it writes id, separator, result; as combiner it keeps the
// key and writes partial results.
type aggregate struct {
	combine   bool
	inSep     []byte
	outSep    []byte
	maxUnique int64
}

func newAggregate(spec *job.MapReduceSpec, combine bool) *aggregate {
	a := &aggregate{combine: combine, inSep: reduceInputSeparator(spec), maxUnique: maxUnique(spec)}
	a.outSep = []byte(spec.ReduceOutputSeparator)
	if len(a.outSep) == 0 {
		a.outSep = []byte("\t")
	}
	if combine {
		a.outSep = a.inSep // what it writes is read again as what it reads
	}
	return a
}

// maxUnique is how many values UniqValueCount counts to; 0: all.
func maxUnique(spec *job.MapReduceSpec) int64 {
	for _, key := range []string{"mapreduce.aggregate.max.num.unique.values", "aggregate.max.num.unique.values"} {
		if n, err := strconv.ParseInt(spec.Conf[key], 10, 64); err == nil && n > 0 {
			return n
		}
	}
	return 0
}

// Run aggregates the groups of in one after the other.
func (a *aggregate) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	g := &aggregation{aggregate: a, out: bufio.NewWriterSize(out, directRead)}
	lines := bufio.NewReaderSize(contextReader{ctx, in}, directRead)
	var long []byte // a line that exceeds the reader's buffer
	for {
		part, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		line := part
		if len(long) > 0 {
			long = append(long, part...)
			line = long
		}
		if len(line) > 0 {
			if err := g.add(bytes.TrimSuffix(line, newline)); err != nil {
				return err
			}
		}
		long = long[:0]
		if err != nil {
			break
		}
	}
	if err := g.flush(); err != nil {
		return err
	}
	return g.out.Flush()
}

// aggregation is a run of aggregate: the group at hand and its aggregator.
type aggregation struct {
	*aggregate
	out   *bufio.Writer
	lines int64 // read
	key   []byte
	agg   aggregator // nil: no group yet
	text  []byte     // scratch
}

// add takes one line.
func (g *aggregation) add(line []byte) error {
	g.lines++
	key, value, _ := bytes.Cut(line, g.inSep)
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

// start returns a new aggregator, nil if there is none of that name.
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

// refuse is the error for a line that the mapper should not have written.
func (g *aggregation) refuse(line []byte, what, do string) error {
	const shown = 80
	text, more := line, ""
	if len(text) > shown {
		text, more = text[:shown], "…"
	}
	return &job.Error{
		Class: job.User, Code: job.CodeFailed, Where: "aggregate",
		What: fmt.Sprintf("line %d, %q%s, %s", g.lines, text, more, what), Do: do,
	}
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

// reduceInputSeparator stands between key and value in what reducers and combiners read.
func reduceInputSeparator(spec *job.MapReduceSpec) []byte {
	if sep := spec.Conf["stream.reduce.input.field.separator"]; sep != "" {
		return []byte(sep)
	}
	return []byte("\t")
}
