package streaming

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/pattern"
)

// builder makes a spec from settings.
type builder struct {
	dir    string
	env    []string
	result *Result
	spec   *job.Spec
	mr     *job.MapReduceSpec
	ask    parse.Ask
	conf   *configuration
	set    map[string]setter // what flags and keys do

	mapper, combiner, reducer *Setting

	codec   string // of the output, if it is compressed
	unknown int    // number of unknown keys
}

func newBuilder(dir string, env []string) *builder {
	b := &builder{dir: dir, result: &Result{}, spec: job.New(job.MapReduce, dir)}
	b.mr = b.spec.MapReduce
	b.env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		i := strings.IndexByte(kv, '=')
		return i <= 0 || strings.ContainsRune(kv, 0)
	})
	b.conf = newConfiguration(b.env)
	b.set = b.setters()
	return b
}

func (b *builder) warn(format string, args ...any) {
	b.result.Warnings = append(b.result.Warnings, fmt.Sprintf(format, args...))
}

func (b *builder) note(format string, args ...any) {
	b.result.Notes = append(b.result.Notes, fmt.Sprintf(format, args...))
}

// build applies all settings; later ones override earlier ones: configuration files, -D, -jobconf, flags. ask
// contains the [request] of a job file.
func (b *builder) build(settings []Setting, ask parse.Ask) error {
	b.ask = ask
	// All errors are reported at once, except those that follow from others.
	if err := errors.Join(b.takeConf(settings), b.applyKeys(), b.takeFlags(settings), b.ask.Apply(b.spec)); err != nil {
		return err
	}
	if err := b.required(); err != nil {
		return err
	}
	if err := errors.Join(b.programs(), b.finishFormats()); err != nil {
		return err
	}
	if err := b.sumFiles(); err != nil {
		return err
	}
	// A queue is the partition. Hadoop's queue "default" means unset.
	queue, _ := b.conf.get("mapreduce.job.queuename")
	if r := &b.spec.Request; !slices.Contains([]string{"default", "root.default"}, queue.Value) && r.Partition == "" && r.On != "local" {
		r.Partition = queue.Value
	}
	b.mr.Env = append(b.env, b.mr.CmdEnv...)
	b.mr.Conf = b.conf.all()
	b.spec.Normalize()
	return b.spec.Validate()
}

// takeConf applies the settings that belong to the configuration.
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
		return job.ConfigError(s.Where, "cannot read the configuration", "check the path").Because(err)
	}
	return b.conf.read(filepath.Base(file), data)
}

// applyKeys applies the keys of the configuration in the order in which they were set.
func (b *builder) applyKeys() error {
	var errs []error
	for _, name := range b.conf.order {
		s, _ := b.conf.get(name)
		k := findKey(name)
		if k == nil {
			b.unknownKey(s)
			continue
		}
		if k.Status == Ignored {
			b.warn("%s has no effect: %s", s.Where, k.Meaning)
		}
		errs = append(errs, b.key(k, s))
	}
	if more := b.unknown - maxUnknown; more > 0 {
		b.warn("%d more unknown keys", more)
	}
	return errors.Join(errs...)
}

// key applies a key.
func (b *builder) key(k *Key, s Setting) error {
	if k.Status == Refused {
		return accepts(k.why, k.only...)(s)
	}
	return b.apply(k.Name, k.effect, s)
}

// apply does what a flag or key does.
func (b *builder) apply(name string, e effect, s Setting) error {
	if e.kind != "" {
		return b.take(e.kind, s, b.field(e.field))
	}
	if set := b.set[name]; set != nil {
		return set(s)
	}
	return nil
}

// maxUnknown is the largest number of warnings about unknown keys, as the configuration of a whole cluster may
// be given.
const maxUnknown = 10

func (b *builder) unknownKey(s Setting) {
	if slices.ContainsFunc(strings.Fields(idleFamilies), func(p string) bool { return strings.HasPrefix(s.Name, p) }) {
		return
	}
	b.unknown++
	if b.unknown > maxUnknown {
		return
	}
	if near := parse.Nearest(s.Name, keyNames()); near != "" {
		b.warn("%s: unknown key; did you mean %s?", s.Where, near)
		return
	}
	b.warn("%s: unknown key; tasks see it as %s, nothing else does", s.Where, job.EnvName(s.Name))
}

// takeFlags applies the flags. Those that are part of the configuration have no function to apply.
func (b *builder) takeFlags(settings []Setting) error {
	var errs []error
	for _, s := range settings {
		f := findFlag(s.Name, false)
		if f == nil {
			errs = append(errs, job.ArgumentError(s.Where, "is not a flag of a MapReduce job", "berth mapreduce --help lists the flags"))
			continue
		}
		errs = append(errs, b.apply(f.Name, f.effect, s))
	}
	return errors.Join(errs...)
}

// shipOne ships a file or an archive.
func (b *builder) shipOne(archive bool) setter {
	return func(s Setting) error { return b.ship(s.Where, s.Value, archive) }
}

// shipList ships a list of files or of archives.
func (b *builder) shipList(archive bool) setter {
	return func(s Setting) error {
		for _, uri := range splitList(s.Value) {
			if err := b.ship(s.Where, uri, archive); err != nil {
				return err
			}
		}
		return nil
	}
}

// notHere warns about an address of a Hadoop cluster, which has no effect.
func (b *builder) notHere(s Setting) error {
	if s.Value != "local" && !strings.HasPrefix(s.Value, "file:") {
		b.warn("%s has no effect: berth uses the file systems of the machine, and --on says where to run", s.Where)
	}
	return nil
}

func (b *builder) noJava(s Setting) error {
	b.warn("%s has no effect: berth runs no Java classes", s.Where)
	return nil
}

// variable matches the beginning of a setting of an environment variable.
var variable = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]*=`)

// cmdenv sets environment variables from NAME=VALUE. Hadoop splits the text at blanks, so "A=1 B=2" sets two
// variables there and here. If other words follow a value, Hadoop drops them, and berth keeps them. Words
// without an equals sign are ignored, as in Hadoop.
func (b *builder) cmdenv(s Setting) error {
	if strings.ContainsRune(s.Value, 0) {
		return job.ArgumentError(s.Where, "a variable cannot have a NUL", "leave it out")
	}
	if name, _, ok := strings.Cut(s.Value, "="); !ok || name == "" {
		b.warn("%s: %q is passed over, as it is not NAME=VALUE", s.Where, s.Value)
		return nil
	}
	words := strings.Fields(s.Value)
	if slices.ContainsFunc(words, func(w string) bool { return !variable().MatchString(w) }) {
		words = []string{s.Value}
	}
	b.mr.CmdEnv = append(b.mr.CmdEnv, words...)
	return nil
}

// input adds inputs from a list separated by commas. Commas in {a,b} are part of a pattern.
func (b *builder) input(s Setting) error {
	paths := splitList(s.Value)
	if len(paths) == 0 {
		return job.ArgumentError(s.Where, "the value is empty", "write "+s.Where+" PATH")
	}
	for _, p := range paths {
		if name, is := job.Object(p); is {
			b.mr.Inputs = append(b.mr.Inputs, name)
			continue
		}
		if hasScheme(p) {
			file, _, err := b.localPath(s.Where, p)
			if err != nil {
				return job.InputError(s.Where, fmt.Sprintf("%q is not on a file system of this machine", p), "copy it here first")
			}
			p = file
		}
		b.mr.Inputs = append(b.mr.Inputs, p)
	}
	return nil
}

func (b *builder) output(s Setting) (err error) {
	if strings.TrimSpace(s.Value) == "" {
		return job.ArgumentError(s.Where, "the value is empty", "write "+s.Where+" DIR")
	}
	var object bool
	if b.mr.Output, object = job.Object(s.Value); object {
		return nil
	}
	if hasScheme(s.Value) {
		b.mr.Output, _, err = b.localPath(s.Where, s.Value)
	}
	return err
}

// splitList splits a list at commas outside of braces and omits empty parts.
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
