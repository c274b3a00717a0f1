package streaming

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"berth/internal/job"
	"berth/internal/job/parse"
)

// builder makes a spec of settings.
type builder struct {
	dir    string
	env    []string
	result *Result
	spec   *job.Spec
	mr     *job.MapReduceSpec
	ask    parse.Ask
	conf   *configuration

	mapper, combiner, reducer *setting
	reduces                   int // from -numReduceTasks; −1: not given

	// What keys say that only counts together with others.
	queue, codec string
	compress     bool
	ignoreKey    *bool
	unknown      int // keys
}

func newBuilder(dir string, env []string) *builder {
	b := &builder{dir: dir, reduces: -1, result: &Result{}, spec: job.New(job.MapReduce, dir)}
	b.mr = b.spec.MapReduce
	b.env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		i := strings.IndexByte(kv, '=')
		return i <= 0 || strings.ContainsRune(kv, 0)
	})
	b.conf = newConfiguration(b.env)
	return b
}

func (b *builder) warn(format string, args ...any) {
	b.result.Warnings = append(b.result.Warnings, fmt.Sprintf(format, args...))
}

func (b *builder) note(format string, args ...any) {
	b.result.Notes = append(b.result.Notes, fmt.Sprintf(format, args...))
}

// build takes all settings, in the order of their power: configuration files, -D,
// -jobconf, then flags. ask holds what a job file's [request] said.
func (b *builder) build(settings []Setting, ask parse.Ask) error {
	b.ask = ask
	// What is wrong is told all at once, as far as one thing does not follow from another.
	if err := errors.Join(b.takeConf(settings), b.applyKeys(), b.takeFlags(settings), b.ask.Apply(b.spec)); err != nil {
		return err
	}
	if err := b.required(); err != nil {
		return err
	}
	if err := errors.Join(b.programs(), b.finishFormats()); err != nil {
		return err
	}
	b.finishRequest()
	b.mr.Env = append(b.env, b.mr.CmdEnv...)
	b.mr.Conf = b.conf.all()
	b.spec.Normalize()
	return b.spec.Validate()
}

// takeConf fills the configuration.
func (b *builder) takeConf(settings []Setting) error {
	var errs []error
	for _, names := range [][]string{{"conf", "additionalconfspec"}, {"D"}, {"jobconf"}} {
		for _, s := range settings {
			if !slices.Contains(names, s.Name) {
				continue
			}
			if names[0] == "conf" {
				errs = append(errs, b.readConf(s))
			} else {
				errs = append(errs, b.conf.assign(s.Value, s.Where))
			}
		}
	}
	return errors.Join(errs...)
}

func (b *builder) readConf(s Setting) error {
	file, _, err := b.localPath(s.Where, s.Value)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: s.Where, What: "cannot read the configuration", Err: err, Do: "check the path"}
	}
	return b.conf.read(filepath.Base(file), data)
}

// applyKeys applies the keys of the configuration, in the order they were met.
func (b *builder) applyKeys() error {
	var errs []error
	for _, name := range b.conf.order {
		s, _ := b.conf.get(name)
		i, known := keyIndex[name]
		if !known {
			b.unknownKey(s)
			continue
		}
		k := &keyTable[i]
		if k.Status == Ignored {
			b.warn("%s has no effect: %s", s.where, k.Meaning)
		}
		if k.apply != nil {
			errs = append(errs, k.apply(b, s))
		}
	}
	if more := b.unknown - maxUnknown; more > 0 {
		b.warn("%d more unknown keys", more)
	}
	return errors.Join(errs...)
}

// maxUnknown bounds the warnings of unknown keys: a whole cluster's configuration may
// be among what was given.
const maxUnknown = 10

func (b *builder) unknownKey(s setting) {
	if slices.ContainsFunc(idleFamilies, func(p string) bool { return strings.HasPrefix(s.key, p) }) {
		return
	}
	b.unknown++
	if b.unknown > maxUnknown {
		return
	}
	if near := parse.Nearest(s.key, keyNames()); near != "" {
		b.warn("%s: unknown key; did you mean %s?", s.where, near)
		return
	}
	b.warn("%s: unknown key; tasks see it as %s, nothing else does", s.where, job.EnvName(s.key))
}

func (b *builder) takeFlags(settings []Setting) error {
	var errs []error
	for _, s := range settings {
		errs = append(errs, b.flag(s))
	}
	return errors.Join(errs...)
}

// flag takes a flag that is no part of the configuration.
func (b *builder) flag(s Setting) error {
	set := setting{key: s.Name, value: s.Value, where: s.Where}
	switch s.Name {
	case "input":
		return b.input(set)
	case "output":
		return b.output(set)
	case "mapper":
		b.mapper = &set
	case "combiner":
		b.combiner = &set
	case "reducer":
		b.reducer = &set
	case "numReduceTasks":
		return whole(0, maxTasks, func(b *builder) *int { return &b.reduces })(b, set)
	case "inputformat":
		return b.setInputFormat(set)
	case "outputformat":
		return b.setOutputFormat(set)
	case "partitioner":
		return b.setPartitioner(set)
	case "mapdebug":
		b.mr.MapDebug = s.Value
	case "reducedebug":
		b.mr.ReduceDebug = s.Value
	case "lazyOutput":
		b.mr.LazyOutput = s.Value != "false"
	default:
		return b.otherFlag(set)
	}
	return nil
}

// otherFlag takes the flags on files, environment and how to go about the job.
func (b *builder) otherFlag(s setting) error {
	on := s.value != "false"
	switch s.key {
	case "file", "cacheFile":
		return b.ship(s.where, s.value, false)
	case "cacheArchive":
		return b.ship(s.where, s.value, true)
	case "files", "archives":
		return b.shipList(s)
	case "cmdenv":
		return b.cmdenv(s)
	case "io":
		return refused("io", "", "", "berth has text only", "text").apply(b, s)
	case "inputreader":
		return job.ConfigError(s.where, "it names a Java class, and berth runs none", "let the mapper read the format, or convert the input first")
	case "libjars":
		b.warn("%s has no effect: berth runs no Java classes", s.where)
	case "fs", "dfs", "jt":
		if s.value != "local" && !strings.HasPrefix(s.value, "file:") {
			b.warn("%s has no effect: berth uses the file systems of the machine, and --on says where to run", s.where)
		}
	case "background", "detach":
		b.result.Detach = on
	case "json":
		b.result.JSON = on
	case "verbose", "debug":
		b.result.Verbose = on
	case "conf", "additionalconfspec", "D", "jobconf": // taken before
	default:
		return b.option(s)
	}
	return nil
}

// option takes one of berth's own options.
func (b *builder) option(s setting) error {
	options := parse.Options()
	i := slices.IndexFunc(options, func(o parse.Option) bool { return o.Name == s.key })
	if i < 0 {
		return job.ArgumentError(s.where, "is no flag of a MapReduce job", "berth mapreduce --help lists the flags")
	}
	return options[i].Set(&b.ask, s.where, s.value)
}

func (b *builder) shipList(s setting) error {
	for _, uri := range splitList(s.value) {
		if err := b.ship(s.where, uri, s.key == "archives"); err != nil {
			return err
		}
	}
	return nil
}

// variable is the beginning of a setting of an environment variable.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// cmdenv takes NAME=VALUE. Hadoop parts the value at blanks, so "A=1 B=2" is two
// variables there and here; a value that goes on with other words, which Hadoop cuts
// off, is kept whole. What has no equals sign is passed over, as in Hadoop.
func (b *builder) cmdenv(s setting) error {
	if strings.ContainsRune(s.value, 0) {
		return job.ArgumentError(s.where, "a variable cannot have a NUL", "leave it out")
	}
	if name, _, ok := strings.Cut(s.value, "="); !ok || name == "" {
		b.warn("%s: %q is passed over, as it is not NAME=VALUE", s.where, s.value)
		return nil
	}
	words := strings.Fields(s.value)
	if slices.ContainsFunc(words, func(w string) bool { return !variable.MatchString(w) }) {
		words = []string{s.value}
	}
	b.mr.CmdEnv = append(b.mr.CmdEnv, words...)
	return nil
}

// input takes a list of inputs with commas between; commas in {a,b} are part of a glob.
func (b *builder) input(s setting) error {
	paths := splitList(s.value)
	if len(paths) == 0 {
		return job.ArgumentError(s.where, "the value is empty", "write "+s.where+" PATH")
	}
	for _, p := range paths {
		if scheme, _, ok := strings.Cut(p, ":"); ok && isScheme(scheme) {
			file, _, err := b.localPath(s.where, p)
			if err != nil {
				return &job.Error{Class: job.User, Code: job.CodeNoInput, Where: s.where,
					What: fmt.Sprintf("%q is not on a file system of this machine", p), Do: "copy it here first"}
			}
			p = file
		}
		b.mr.Inputs = append(b.mr.Inputs, p)
	}
	return nil
}

func (b *builder) output(s setting) (err error) {
	if strings.TrimSpace(s.value) == "" {
		return job.ArgumentError(s.where, "the value is empty", "write "+s.where+" DIR")
	}
	b.mr.Output = s.value
	if scheme, _, ok := strings.Cut(s.value, ":"); ok && isScheme(scheme) {
		b.mr.Output, _, err = b.localPath(s.where, s.value)
	}
	return err
}

// splitList parts a list at commas outside of braces, dropping empty parts.
func splitList(list string) []string {
	var parts []string
	depth, start := 0, 0
	for i := 0; i <= len(list); i++ {
		switch {
		case i == len(list) || list[i] == ',' && depth == 0:
			if part := strings.TrimSpace(list[start:i]); part != "" {
				parts = append(parts, part)
			}
			start = i + 1
		case list[i] == '{':
			depth++
		case list[i] == '}' && depth > 0:
			depth--
		}
	}
	return parts
}
