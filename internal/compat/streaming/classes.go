package streaming

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/pattern"
)

// class is a Java class for which berth has its own implementation.
type class struct {
	name     string   // without its package
	value    string   // berth's name for it
	packages []string // the packages that contain a class of this name with the same function, without org.apache.hadoop
}

var (
	partitioners = classes(`
		HashPartitioner hash mapred.lib mapreduce.lib.partition
		KeyFieldBasedPartitioner keyfield mapred.lib mapreduce.lib.partition`)
	comparators = classes(`
		KeyFieldBasedComparator keyfield mapred.lib mapreduce.lib.partition
		Text$Comparator bytes io`)
	inputFormats = classes(`
		TextInputFormat TextInputFormat mapred mapreduce.lib.input
		KeyValueTextInputFormat KeyValueTextInputFormat mapred mapreduce.lib.input
		NLineInputFormat NLineInputFormat mapred.lib mapreduce.lib.input
		CombineTextInputFormat CombineTextInputFormat mapred.lib mapreduce.lib.input
		SequenceFileInputFormat SequenceFileInputFormat mapred mapreduce.lib.input
		SequenceFileAsTextInputFormat SequenceFileAsTextInputFormat mapred mapreduce.lib.input
		StreamInputFormat StreamInputFormat streaming`)
	// StreamXmlRecord is the name on Hadoop's page on Streaming.
	readers = classes(`
		StreamXmlRecordReader StreamXmlRecordReader streaming
		StreamXmlRecord StreamXmlRecordReader`)
	outputFormats = classes(`
		TextOutputFormat - mapred mapreduce.lib.output
		SequenceFileOutputFormat SequenceFileOutputFormat mapred mapreduce.lib.output`)
	outputCodecs = classes(`
		GzipCodec gzip io.compress
		ZStandardCodec zstd io.compress
		BZip2Codec bzip2 io.compress
		SnappyCodec snappy io.compress
		DefaultCodec deflate io.compress
		DeflateCodec deflate io.compress`)
	programs = classes(`
		IdentityMapper identity mapred.lib
		IdentityReducer identity mapred.lib
		Mapper identity mapreduce
		Reducer identity mapreduce
		FieldSelectionMapReduce fields mapred.lib
		FieldSelectionMapper fields mapreduce.lib.fieldsel
		FieldSelectionReducer fields mapreduce.lib.fieldsel
		ValueAggregatorReducer aggregate mapred.lib.aggregate
		ValueAggregatorCombiner aggregate mapred.lib.aggregate`)
)

// classes reads a table of classes: name, berth's name or a dash for none, packages.
func classes(table string) func() []class {
	return sync.OnceValue(func() (all []class) {
		for line := range strings.Lines(strings.TrimSpace(table)) {
			words := strings.Fields(line)
			all = append(all, class{words[0], strings.Trim(words[1], "-"), words[2:]})
		}
		return all
	})
}

// full reports whether name is the class with one of its packages.
func (c *class) full(name string) bool {
	return slices.ContainsFunc(c.packages, func(p string) bool { return name == "org.apache.hadoop."+p+"."+c.name })
}

// findClass returns berth's name of a class, which may be given without its package. what describes the kind of
// class in errors.
func findClass(s Setting, what string, known []class) (string, error) {
	name := strings.TrimSpace(s.Value)
	names := make([]string, 0, len(known))
	for _, c := range known {
		if name == c.name || c.full(name) {
			return c.value, nil
		}
		names = append(names, c.name)
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
	for _, c := range programs() {
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
