package hadoop

import (
	"bytes"
	"cmp"
	"strconv"

	"berth/internal/core/job"
)

// A record is a line: the key alone, or the key, a separator and the value. In scratch files, and for combiners and
// reducers, the separator is always a TAB, whatever the mapper's is, as in Hadoop Streaming. If a line is as long as its
// key, it has no separator, and is written without one.
const Separator = '\t'

// LineFormat says where the key of a line ends: at the separator after that many
// fields; without one, the whole line is the key (Hadoop Streaming's rule).
type LineFormat struct {
	Sep    []byte
	fields int
	// ends says that a line of too few fields which ends with a separator has an empty
	// value: the separator is the one that a bare key was handed out with.
	ends bool
}

func NewLineFormat(sep string, fields int) LineFormat {
	return LineFormat{Sep: []byte(cmp.Or(sep, string(Separator))), fields: max(fields, 1)}
}

// MapFormat is the format of what mappers write.
func MapFormat(spec *job.MapReduceSpec) LineFormat {
	if f, selects := selectionFormat(spec, &spec.Mapper, true); selects {
		return f
	}
	return NewLineFormat(spec.MapOutputSeparator, spec.MapOutputKeyFields)
}

// ReduceFormat is the format of what reducers write.
func ReduceFormat(spec *job.MapReduceSpec) LineFormat {
	if f, selects := selectionFormat(spec, spec.Reducer, false); selects {
		return f
	}
	return NewLineFormat(spec.ReduceOutputSeparator, reduceFields(spec, 1))
}

// CombineFormat is the format of what combiners write, which is that of reducers. If the job does not set the number of
// fields of their key, and a combiner gets lines as the mapper wrote them, the number is that of the mapper.
func CombineFormat(spec *job.MapReduceSpec) LineFormat {
	f := ReduceFormat(spec)
	if m := MapFormat(spec); bytes.Equal(m.Sep, f.Sep) {
		f.fields = reduceFields(spec, m.fields)
		f.ends = true
	}
	return f
}

// OutputKey is the job key of the separator of key and value in the output.
const OutputKey = "mapreduce.output.textoutputformat.separator"

// OutputSeparator returns the separator of key and value in the output.
func OutputSeparator(spec *job.MapReduceSpec) []byte {
	return []byte(cmp.Or(spec.Conf[OutputKey], string(Separator)))
}

// RecordFormat is the format of records as an identity reducer hands them on: with a TAB behind the key, which may have others
// in it where it is of several fields.
func RecordFormat(spec *job.MapReduceSpec) LineFormat {
	if m := MapFormat(spec); m.Plain() {
		return m
	}
	return NewLineFormat("", 1)
}

func reduceFields(spec *job.MapReduceSpec, otherwise int) int {
	n, err := strconv.Atoi(spec.Conf["stream.num.reduce.output.key.fields"])
	if err != nil {
		return otherwise
	}
	return n
}

// Plain reports whether lines of the format keep their bytes when the separator becomes a TAB.
func (f *LineFormat) Plain() bool { return len(f.Sep) == 1 && f.Sep[0] == Separator }

// KeyLen returns the length of the key of a line, which is without its newline.
func (f *LineFormat) KeyLen(line []byte) int {
	if len(f.Sep) == 1 && f.fields == 1 {
		if i := bytes.IndexByte(line, f.Sep[0]); i >= 0 {
			return i
		}
		return len(line)
	}
	at := 0
	for n := f.fields; ; n-- {
		i := bytes.Index(line[at:], f.Sep)
		switch {
		case i < 0 && f.ends && bytes.HasSuffix(line, f.Sep):
			return len(line) - len(f.Sep)
		case i < 0:
			return len(line)
		case n == 1:
			return at + i
		}
		at += i + len(f.Sep)
	}
}
