package streaming

import (
	"fmt"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/pattern"
)

// class is a Java class for which berth has its own implementation.
type class struct {
	name     string   // without its package
	packages []string // the packages that contain a class of this name with the same function
	value    string   // berth's name for it
}

const (
	oldLib     = "org.apache.hadoop.mapred.lib"
	oldMain    = "org.apache.hadoop.mapred"
	newMain    = "org.apache.hadoop.mapreduce"
	newPart    = "org.apache.hadoop.mapreduce.lib.partition"
	newIn      = "org.apache.hadoop.mapreduce.lib.input"
	newOut     = "org.apache.hadoop.mapreduce.lib.output"
	streamMain = "org.apache.hadoop.streaming"
	codecs     = "org.apache.hadoop.io.compress"
)

var (
	partitioners = []class{
		{"HashPartitioner", []string{oldLib, newPart}, "hash"},
		{"KeyFieldBasedPartitioner", []string{oldLib, newPart}, "keyfield"},
	}
	comparators = []class{
		{"KeyFieldBasedComparator", []string{oldLib, newPart}, "keyfield"},
		{"Text$Comparator", []string{"org.apache.hadoop.io"}, "bytes"},
	}
	inputFormats = []class{
		{"TextInputFormat", []string{oldMain, newIn}, "TextInputFormat"},
		{"KeyValueTextInputFormat", []string{oldMain, newIn}, "KeyValueTextInputFormat"},
		{"NLineInputFormat", []string{oldLib, newIn}, "NLineInputFormat"},
		{"CombineTextInputFormat", []string{oldLib, newIn}, "CombineTextInputFormat"},
		{job.SequenceInput, []string{oldMain, newIn}, job.SequenceInput},
		{job.SequenceTextInput, []string{oldMain, newIn}, job.SequenceTextInput},
		{"StreamInputFormat", []string{streamMain}, streamInput},
	}
	readers = []class{
		{xmlReader, []string{streamMain}, xmlReader},
		{"StreamXmlRecord", nil, xmlReader}, // the name on Hadoop's page on Streaming
	}
	outputFormats = []class{
		{"TextOutputFormat", []string{oldMain, newOut}, ""},
		{job.SequenceOutput, []string{oldMain, newOut}, job.SequenceOutput},
	}
	outputCodecs = []class{
		{"GzipCodec", []string{codecs}, "gzip"},
		{"ZStandardCodec", []string{codecs}, "zstd"},
		{"BZip2Codec", []string{codecs}, "bzip2"},
		{"SnappyCodec", []string{codecs}, "snappy"},
		{"DefaultCodec", []string{codecs}, "deflate"},
		{"DeflateCodec", []string{codecs}, "deflate"},
	}
	programs = []class{
		{"IdentityMapper", []string{oldLib}, job.NativeIdentity},
		{"IdentityReducer", []string{oldLib}, job.NativeIdentity},
		{"Mapper", []string{newMain}, job.NativeIdentity},
		{"Reducer", []string{newMain}, job.NativeIdentity},
		{"FieldSelectionMapReduce", []string{oldLib}, job.NativeSelection},
		{"FieldSelectionMapper", []string{newMain + ".lib.fieldsel"}, job.NativeSelection},
		{"FieldSelectionReducer", []string{newMain + ".lib.fieldsel"}, job.NativeSelection},
		{"ValueAggregatorReducer", []string{oldLib + ".aggregate"}, job.NativeAggregate},
		{"ValueAggregatorCombiner", []string{oldLib + ".aggregate"}, job.NativeAggregate},
	}
)

// full reports whether name is the class with one of its packages.
func (c *class) full(name string) bool {
	return slices.ContainsFunc(c.packages, func(p string) bool { return name == p+"."+c.name })
}

// findClass returns berth's name of a class, which may be given without its package. what describes the kind of
// class in errors.
func findClass(s Setting, what string, known []class) (string, error) {
	name := strings.TrimSpace(s.Value)
	names := make([]string, 0, len(known))
	for i := range known {
		if c := &known[i]; name == c.name || c.full(name) {
			return c.value, nil
		}
		names = append(names, known[i].name)
	}
	short := name[strings.LastIndexByte(name, '.')+1:]
	do := "berth has " + strings.Join(names, ", ")
	if near := parse.Nearest(short, names); near != "" && near != short {
		do = fmt.Sprintf("did you mean %s?", near)
	}
	return "", job.ConfigError(s.Where, fmt.Sprintf("%q is no %s that berth has, and it runs no Java classes", name, what), do)
}

// javaName matches a class in at least two packages: org.x.Class. Files of programs do not have such names.
var javaName = pattern.Lazy(`^([a-z_][a-z0-9_]*\.){2,}[A-Z][A-Za-z0-9_]*(\$[A-Za-z0-9_]+)*$`)

// nativeProgram returns berth's own program for a Java class, or "" if the command is not a class. The identity
// classes and aggregate need no package.
func nativeProgram(s Setting) (string, error) {
	name := strings.TrimSpace(s.Value)
	for i := range programs {
		c := &programs[i]
		if c.full(name) || c.name == name && strings.HasPrefix(name, "Identity") {
			return c.value, nil
		}
	}
	if javaName().MatchString(name) {
		return "", job.ConfigError(s.Where, fmt.Sprintf("%q is a Java class, and berth runs none", name),
			"give a command; the identity classes, aggregate and FieldSelectionMapReduce are built in")
	}
	return "", nil
}
