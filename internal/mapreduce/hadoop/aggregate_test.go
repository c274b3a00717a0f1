package hadoop

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

func run(a *Aggregate, in string) (string, error) {
	var out bytes.Buffer
	err := a.Run(strings.NewReader(in), &out)
	return out.String(), err
}

func mustRun(t interface{ Fatal(...any) }, a *Aggregate, in string) string {
	out, err := run(a, in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAggregateStops(t *testing.T) {
	broken := errors.New("broken pipe")
	if err := NewAggregate(&job.MapReduceSpec{}, false).Run(iotest.ErrReader(broken), io.Discard); !errors.Is(err, broken) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

func TestAggregate(t *testing.T) {
	for _, c := range []struct{ name, in, want, partial string }{
		{"nothing", "", "", ""},
		{"sum", "LongValueSum:a\t1\nLongValueSum:a\t-5\nLongValueSum:a\t+7\n", "a\t3\n", "LongValueSum:a\t3\n"},
		{"two keys", "LongValueSum:a\t1\nLongValueSum:b\t2\n", "a\t1\nb\t2\n", "LongValueSum:a\t1\nLongValueSum:b\t2\n"},
		{"wraps as Java's", "LongValueSum:a\t9223372036854775807\nLongValueSum:a\t1\n", "a\t-9223372036854775808\n", "LongValueSum:a\t-9223372036854775808\n"},
		{"any case", "longvaluesum:a\t1\n", "a\t1\n", "longvaluesum:a\t1\n"},
		{"id with colons", "LongValueSum:a:b\t1\n", "a:b\t1\n", "LongValueSum:a:b\t1\n"},
		{"empty id", "LongValueSum:\t4\n", "\t4\n", "LongValueSum:\t4\n"},
		{"no last newline", "LongValueMax:a\t4\nLongValueMax:a\t9", "a\t9\n", "LongValueMax:a\t9\n"},
		{"max", "LongValueMax:a\t-4\nLongValueMax:a\t-9\n", "a\t-4\n", "LongValueMax:a\t-4\n"},
		{"min", "LongValueMin:a\t4\nLongValueMin:a\t9\n", "a\t4\n", "LongValueMin:a\t4\n"},
		{"double", "DoubleValueSum:a\t1\nDoubleValueSum:a\t2.5\n", "a\t3.5\n", "DoubleValueSum:a\t3.5\n"},
		{"string max", "StringValueMax:a\tab\nStringValueMax:a\tb\nStringValueMax:a\ta\n", "a\tb\n", "StringValueMax:a\tb\n"},
		{"string min", "StringValueMin:a\tab\nStringValueMin:a\tb\nStringValueMin:a\t\n", "a\t\n", "StringValueMin:a\t\n"},
		{"unique", "UniqValueCount:a\tx\nUniqValueCount:a\tx\nUniqValueCount:a\ty\n", "a\t2\n", "UniqValueCount:a\tx\nUniqValueCount:a\ty\n"},
		{"unique without value", "UniqValueCount:a\n", "a\t1\n", "UniqValueCount:a\t\n"},
		{
			"histogram", "ValueHistogram:a\tx\nValueHistogram:a\tx\t4\nValueHistogram:a\ty\nValueHistogram:a\tz z\t3\n",
			"a\t3\t1\t3\t5\t3.0\t1.632993161855452\n", "ValueHistogram:a\tx\t5\nValueHistogram:a\ty\t1\nValueHistogram:a\tz z\t3\n",
		},
		{"histogram of two", "ValueHistogram:a\tx\t5\nValueHistogram:a\ty\n", "a\t2\t1\t5\t5\t3.0\t2.0\n", "ValueHistogram:a\tx\t5\nValueHistogram:a\ty\t1\n"},
	} {
		spec := &job.MapReduceSpec{}
		if got := mustRun(t, NewAggregate(spec, false), c.in); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		combiner := NewAggregate(spec, true)
		if got := mustRun(t, combiner, c.in); got != c.partial {
			t.Errorf("%s: combined: got %q, want %q", c.name, got, c.partial)
		}
	}
}

func TestAggregateTakesTheSpecsFormat(t *testing.T) {
	for _, c := range []struct {
		name     string
		spec     job.MapReduceSpec
		in, want string
	}{
		{"output separator", job.MapReduceSpec{ReduceOutputSeparator: ";"}, "LongValueSum:a\t1\n", "a;1\n"},
		{"key of two fields", job.MapReduceSpec{MapOutputKeyFields: 2}, "LongValueSum:a\tb\t1\n", "a\tb\t1\n"},
		{"other separator before", job.MapReduceSpec{MapOutputSeparator: ",", MapOutputKeyFields: 2}, "LongValueSum:a,b\t1\n", "a,b\t1\n"},
		{
			"limit", job.MapReduceSpec{Conf: map[string]string{"mapreduce.aggregate.max.num.unique.values": "2"}},
			"UniqValueCount:a\tx\nUniqValueCount:a\ty\nUniqValueCount:a\tz\n", "a\t2\n",
		},
	} {
		if got := mustRun(t, NewAggregate(&c.spec, false), c.in); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAggregateRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"LongValueSum:a\t1\nSum:a\t1\n", `line 2, "Sum:a\t1", names no aggregator`},
		{"word\t1\n", `line 1, "word\t1", names no aggregator`},
		{"LongValueSum\t1\n", `line 1, "LongValueSum\t1", names no aggregator`},
		{"LongValueSum:a\tone\n", `line 1, "LongValueSum:a\tone", has no value`},
		{"LongValueSum:a\t1.5\n", "has no value"},
		{"LongValueSum:a\n", "has no value"},
		{"LongValueMax:a\t99999999999999999999\n", "out of range"},
		{"DoubleValueSum:a\tx\n", "has no value"},
		{"ValueHistogram:a\tx\ty\n", "has no value"},
		{"x" + strings.Repeat("y", 200) + "\n", "…, names no aggregator"},
	} {
		_, err := run(NewAggregate(&job.MapReduceSpec{}, false), c.in)
		if job.ClassOf(err) != job.User || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%q: got %v, want a user error with %q", c.in, err, c.want)
		}
	}
}

func TestAggregateTakesLongLines(t *testing.T) {
	value := strings.Repeat("v", 3*aggregateBuffer+17)
	in := "StringValueMax:a\t" + value + "\nStringValueMin:b\t" + value + "\n"
	if got, want := mustRun(t, NewAggregate(&job.MapReduceSpec{}, false), in), "a\t"+value+"\nb\t"+value+"\n"; got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

// What a combiner did in between must not show in the result.
func TestAggregateIsTheSameWithCombiners(t *testing.T) {
	longs := rapid.Map(rapid.Int64(), func(v int64) string { return strconv.FormatInt(v, 10) })
	doubles := rapid.Map(rapid.Float64(), func(v float64) string { return string(appendJavaDouble(nil, v)) })
	words := rapid.StringMatching(`[a-c]{0,2}(\t[0-9]{1,3})?`)
	values := map[string]*rapid.Generator[string]{
		"LongValueSum": longs, "LongValueMax": longs, "LongValueMin": longs, "DoubleValueSum": doubles,
		"StringValueMax": words, "StringValueMin": words, "UniqValueCount": words, "ValueHistogram": words,
	}
	names := strings.Split(aggregatorNames, ", ")
	combiner := NewAggregate(&job.MapReduceSpec{}, true)
	reducer := NewAggregate(&job.MapReduceSpec{}, false)
	rapid.Check(t, func(t *rapid.T) {
		var lines, combined []string
		for range rapid.IntRange(1, 4).Draw(t, "spills") {
			var spill []string
			for range rapid.IntRange(0, 6).Draw(t, "lines") {
				name := rapid.SampledFrom(names).Draw(t, "name")
				spill = append(spill, name+":k\t"+values[name].Draw(t, "value")+"\n")
			}
			lines = append(lines, spill...)
			slices.Sort(spill)
			combined = append(combined, strings.SplitAfter(mustRun(t, combiner, strings.Join(spill, "")), "\n")...)
		}
		slices.Sort(lines)
		slices.Sort(combined)
		want := mustRun(t, reducer, strings.Join(lines, ""))
		if got := mustRun(t, reducer, strings.Join(combined, "")); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// DoubleValueSum is the exact sum, rounded once.
func TestDoubleSumIsExact(t *testing.T) {
	exponents := rapid.IntRange(-300, 300)
	rapid.Check(t, func(t *rapid.T) {
		var d doubleSum
		exact := new(big.Float).SetPrec(3000)
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			v := math.Ldexp(float64(rapid.Int64().Draw(t, "mantissa")), exponents.Draw(t, "exponent"))
			if err := d.add(strconv.AppendFloat(nil, v, 'g', -1, 64)); err != nil {
				t.Fatal(err)
			}
			exact.Add(exact, new(big.Float).SetFloat64(v))
		}
		want, _ := exact.Float64()
		if got := d.sum(); got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestDoubleSumSpecials(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   string
	}{
		{[]string{"1", "Infinity"}, "Infinity"},
		{[]string{"-Infinity", "1e308", "1e308"}, "-Infinity"},
		{[]string{"Infinity", "-Infinity"}, "NaN"},
		{[]string{"NaN", "1"}, "NaN"},
		{[]string{"1e999"}, "Infinity"},
		{[]string{"-0.0"}, "0.0"},
		{[]string{"0.1", "0.2"}, "0.30000000000000004"},
		{[]string{"1e300", "1", "-1e300"}, "1.0"},
		{[]string{"1e16", "1", "1e-16"}, "1.0000000000000002E16"},
		{[]string{"-1e16", "-1", "-1e-16"}, "-1.0000000000000002E16"},
		{[]string{"1e16", "1", "-1e-16"}, "1.0E16"},
		{[]string{"1e308", "1e308"}, "Infinity"},
	} {
		var d doubleSum
		for _, v := range c.values {
			if err := d.add([]byte(v)); err != nil {
				t.Fatal(err)
			}
		}
		if got := string(d.report(nil)); got != c.want {
			t.Errorf("%q: got %s, want %s", c.values, got, c.want)
		}
	}
}

func TestAppendJavaDouble(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0", 1: "1.0", -1.5: "-1.5", 100: "100.0", 0.001: "0.001", 0.00099: "9.9E-4",
		9999999: "9999999.0", 1e7: "1.0E7", 12345678.9: "1.23456789E7", 1e-5: "1.0E-5",
		math.MaxFloat64: "1.7976931348623157E308", 5e-324: "5.0E-324", math.Inf(1): "Infinity", math.Inf(-1): "-Infinity",
	} {
		if got := string(appendJavaDouble(nil, v)); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
	if got := string(appendJavaDouble(nil, math.NaN())); got != "NaN" {
		t.Errorf("got %s, want NaN", got)
	}
}
