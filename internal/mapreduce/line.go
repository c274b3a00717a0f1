package mapreduce

import (
	"bytes"
	"strconv"

	"berth/internal/job"
)

// A record is a line: the key, then nothing, or a separator and the value. Scratch
// files, combiners and reducers always see a TAB as separator, whatever the mapper's
// was, as in Hadoop Streaming. That a line has no separator is seen from its length
// being that of its key, so such a line comes out as it went in.
const separator = '\t'

// lineFormat says where the key of a line ends: at the separator after that many
// fields; without one, the whole line is the key (Hadoop Streaming's rule).
type lineFormat struct {
	sep    []byte
	fields int
	// ends says that a line of too few fields which ends with a separator has an empty
	// value: the separator is the one that a bare key was handed out with.
	ends bool
}

func newLineFormat(sep string, fields int) lineFormat {
	if sep == "" {
		sep = string(separator)
	}
	return lineFormat{sep: []byte(sep), fields: max(fields, 1)}
}

// mapFormat is the format of what mappers write.
func mapFormat(spec *job.MapReduceSpec) lineFormat {
	return newLineFormat(spec.MapOutputSeparator, spec.MapOutputKeyFields)
}

// reduceFormat is the format of what reducers write.
func reduceFormat(spec *job.MapReduceSpec) lineFormat {
	return newLineFormat(spec.ReduceOutputSeparator, reduceFields(spec, 1))
}

// combineFormat is the format of what combiners write: that of reducers, but where
// the job does not say how many fields their key has and a combiner is fed lines
// just as the mapper wrote them, it is taken to have as many as the mapper's.
func combineFormat(spec *job.MapReduceSpec) lineFormat {
	f := reduceFormat(spec)
	if m := mapFormat(spec); bytes.Equal(m.sep, f.sep) {
		f.fields = reduceFields(spec, m.fields)
		f.ends = true
	}
	return f
}

func reduceFields(spec *job.MapReduceSpec, otherwise int) int {
	n, err := strconv.Atoi(spec.Conf["stream.num.reduce.output.key.fields"])
	if err != nil {
		return otherwise
	}
	return n
}

// plain reports whether lines of the format keep their bytes when the separator becomes a TAB.
func (f *lineFormat) plain() bool { return len(f.sep) == 1 && f.sep[0] == separator }

// keyLen returns the length of the key of a line, which is without its newline.
func (f *lineFormat) keyLen(line []byte) int {
	if len(f.sep) == 1 && f.fields == 1 {
		if i := bytes.IndexByte(line, f.sep[0]); i >= 0 {
			return i
		}
		return len(line)
	}
	at := 0
	for n := f.fields; ; n-- {
		i := bytes.Index(line[at:], f.sep)
		switch {
		case i < 0 && f.ends && bytes.HasSuffix(line, f.sep):
			return len(line) - len(f.sep)
		case i < 0:
			return len(line)
		case n == 1:
			return at + i
		}
		at += i + len(f.sep)
	}
}
