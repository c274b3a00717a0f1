package hadoop

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"berth/internal/core/job"
)

// FieldSelection is Hadoop's FieldSelectionMapReduce: it makes a key and a value from fields of each record. A mapper
// uses the fields of its lines, a reducer those of key, separator and value.
type FieldSelection struct {
	sep    []byte
	mapper bool
	in     LineFormat // of a reducer's lines
	key    []int      // fields
	value  []int
	from   int // value ends with all fields from here on; −1: with none
}

// Defaults of the job keys of FieldSelectionMapReduce.
const (
	defaultSelection = "0-:"
	maxFields        = math.MaxInt16
)

// NewFieldSelection returns the selection of a job's mapper or reducer.
func NewFieldSelection(spec *job.MapReduceSpec, mapper bool) (*FieldSelection, error) {
	where, sep := job.ReduceSelectionKey, cmp.Or(spec.Conf[job.SelectionSeparatorKey], "\t")
	if mapper {
		where = job.MapSelectionKey
	}
	if utf8.RuneCountInString(sep) != 1 {
		return nil, job.ConfigError(job.SelectionSeparatorKey, fmt.Sprintf("it cannot be %q", sep), "write one character, which is taken as it is")
	}
	selected := cmp.Or(spec.Conf[where], defaultSelection)
	s := &FieldSelection{sep: []byte(sep), mapper: mapper}
	if err := s.parse(selected); err != nil {
		return nil, job.ConfigError(where, fmt.Sprintf("it cannot be %q: %v", selected, err), "write the fields of key and value, like 1,3-4:0-")
	}
	if !mapper {
		s.in = RecordFormat(spec)
	} else if spec.InputFormat != "" && spec.InputFormat != "TextInputFormat" {
		return nil, job.ConfigError("-mapper", "FieldSelectionMapReduce reads the lines of TextInputFormat only, not "+spec.InputFormat, "give a command as mapper")
	}
	return s, nil
}

// parse parses the fields of key and value, separated by a colon. A range without an end selects nothing in a key, as
// in Hadoop (FieldSelectionHelper.parseOutputKeyValueSpec).
func (s *FieldSelection) parse(text string) (err error) {
	parts := strings.Split(text, ":")
	if s.key, _, err = fieldList(parts[0]); err != nil {
		return err
	}
	s.from = -1
	if len(parts) > 1 {
		s.value, s.from, err = fieldList(parts[1])
	}
	return err
}

// fieldList returns the fields of a list like 2,4-6,8-; from is the begin of a range without an end, or −1.
func fieldList(text string) (fields []int, from int, err error) {
	from = -1
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		first, last, isRange := strings.Cut(part, "-")
		if isRange && first == "" {
			first = "0"
		}
		low, err := field(first)
		switch {
		case err != nil:
			return nil, 0, err
		case !isRange:
			fields = append(fields, low)
			continue
		case last == "":
			from = low
			continue
		}
		high, err := field(last)
		if err != nil {
			return nil, 0, err
		}
		for ; low <= high; low++ {
			fields = append(fields, low)
		}
		if len(fields) > maxFields {
			return nil, 0, fmt.Errorf("more than %d fields", maxFields)
		}
	}
	return fields, from, nil
}

func field(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= maxFields {
		return 0, fmt.Errorf("%q is not a number of a field", text)
	}
	return n, nil
}

// format is the format of the lines that the selection writes. Without fields for a key all of the line is the key, but
// for the TAB that a mapper ends it with: its value is empty.
func (s *FieldSelection) format() LineFormat {
	switch {
	case len(s.key) == 0:
		f := NewLineFormat("", maxFields)
		f.ends = s.mapper
		return f
	case s.sep[0] == Separator:
		return NewLineFormat("", len(s.key))
	default:
		return NewLineFormat("", 1)
	}
}

// selectionFormat returns the format of what a job's mapper or reducer writes; false if it does not select fields.
func selectionFormat(spec *job.MapReduceSpec, p *job.Program, mapper bool) (LineFormat, bool) {
	if p == nil || p.Native != job.NativeSelection {
		return LineFormat{}, false
	}
	s, err := NewFieldSelection(spec, mapper)
	if err != nil {
		return LineFormat{}, false // the job was refused (Check)
	}
	return s.format(), true
}

// Run selects fields of each line of in.
func (s *FieldSelection) Run(in io.Reader, out io.Writer) error {
	w := bufio.NewWriterSize(out, aggregateBuffer)
	var fields [][]byte
	var record []byte
	err := eachLine(in, func(line []byte) (err error) {
		fields = s.split(fields[:0], line)
		if record, err = s.record(record[:0], fields); err == nil {
			_, err = w.Write(record)
		}
		return err
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// split returns the fields of a line. Empty fields at the end are omitted, as in Java's String.split, except in a line
// without a separator.
func (s *FieldSelection) split(fields [][]byte, line []byte) [][]byte {
	value := line
	if !s.mapper {
		n := s.in.KeyLen(line)
		if fields = s.cut(fields, line[:n]); n == len(line) {
			return trim(fields)
		}
		value = line[n+len(s.in.Sep):]
	}
	if fields = s.cut(fields, value); s.mapper && len(fields) == 1 {
		return fields
	}
	return trim(fields)
}

func (s *FieldSelection) cut(fields [][]byte, text []byte) [][]byte {
	return slices.AppendSeq(fields, bytes.SplitSeq(text, s.sep))
}

func trim(fields [][]byte) [][]byte {
	for len(fields) > 0 && len(fields[len(fields)-1]) == 0 {
		fields = fields[:len(fields)-1]
	}
	return fields
}

// record appends the line of a record. A reducer's record with neither key nor value has no line.
func (s *FieldSelection) record(b []byte, fields [][]byte) ([]byte, error) {
	hasValue := len(s.value) > 0 || s.from >= 0
	switch {
	case len(s.key) > 0:
		b = s.join(b, fields, s.key, -1)
		if s.sep[0] != Separator && bytes.IndexByte(b, Separator) >= 0 {
			return b, job.UserError("field selection", fmt.Sprintf("the key %q has a TAB in it, which ends a key here", b), "select other fields for the key, or give a command as mapper")
		}
		if hasValue || s.mapper {
			b = s.join(append(b, Separator), fields, s.value, s.from)
		}
	case s.mapper:
		b = append(s.join(b, fields, s.value, s.from), Separator) // the key is all there is
	case hasValue:
		b = s.join(b, fields, s.value, s.from)
	default:
		return b, nil
	}
	return append(b, '\n'), nil
}

// join appends fields with the separator between them. Missing fields are empty.
func (s *FieldSelection) join(b []byte, fields [][]byte, list []int, from int) []byte {
	start := len(b)
	for _, i := range list {
		if i < len(fields) {
			b = append(b, fields[i]...)
		}
		b = append(b, s.sep...)
	}
	for i := from; from >= 0 && i < len(fields); i++ {
		b = append(append(b, fields[i]...), s.sep...)
	}
	return b[:max(start, len(b)-len(s.sep))]
}
