package predict

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
)

// Application returns the identity of a job's program, which names its profile: "map.awk+reduce.awk-1f0c5a9b21d4".
// Jobs have the same identity when their tasks do the same work on other data: the same commands and, for MapReduce,
// the same keys, order and use of a combiner, and gangs of as many ranks, as their number changes how long they take. Inputs, outputs, numbers of tasks and the job's name have no influence.
//
// A word of a command that names a file stands for that file: a shipped file for its name and content
// (job.ShipFile.Sum), another relative one for the user's folder, so that the map.py of two projects are two
// applications. An edited script is another application, which ApplicationByPath connects with the earlier one.
//
// A user who names the application (job.Spec.Application) decides instead: jobs of one kind with that name are one application, whatever their
// commands, and so is each stage of such jobs.
//
// How a command is spelled has no influence: ./map.py, map.py and python3 map.py are the same script, and fit {} and fit {1} {2} get the same
// values (canonical).
func Application(spec *job.Spec) string { return identity(spec, byContent, canonical) }

// ApplicationByPath returns the identity with shipped files by their paths instead of their contents, and with the command as it is
// spelled. Older versions of berth stored profiles under it. Jobs with the same result are the same application at different times, for
// example after its scripts were edited.
func ApplicationByPath(spec *job.Spec) string { return identity(spec, byPath, verbatim) }

// A spelling returns a command as an identity has it. dir is the user's folder.
type spelling func(command []string, dir string) []string

func verbatim(command []string, _ string) []string { return command }

// canonical returns a command with its script as job.Script has it, with a script below the user's folder by its relative path, and with one {}
// for placeholders of columns that follow each other.
func canonical(command []string, dir string) []string {
	if len(command) == 1 && strings.ContainsAny(command[0], " \t\n") { // a shell command
		words := strings.Fields(command[0])
		if made := canonical(words, dir); !slices.Equal(made, words) {
			return []string{strings.Join(made, " ")}
		}
		return command
	}
	made := make([]string, 0, len(command))
	for i, w := range job.Script(command) {
		if below, is := strings.CutPrefix(w, dir+"/"); is && i == 0 && dir != "" {
			w = "./" + below
		}
		if column().MatchString(w) {
			w = "{}"
		}
		if w != "{}" || i == 0 || made[len(made)-1] != "{}" {
			made = append(made, w)
		}
	}
	return made
}

// column is the placeholder of an entry or of one of its columns.
var column = pattern.Lazy(`^\{(-?[1-9][0-9]*)?\}$`)

func byPath(f job.ShipFile) string { return fmt.Sprintf("ships %q;", f.Path) }

func byContent(f job.ShipFile) string {
	if f.Sum == "" {
		return byPath(f)
	}
	return fmt.Sprintf("ships %q with %s;", f.Name, f.Sum)
}

func identity(spec *job.Spec, ships func(job.ShipFile) string, spelled spelling) string {
	h := sha256.New()
	var label string
	switch {
	case spec.Application != "":
		label = namedIdentity(h, spec)
	case spec.Kind == job.Bag:
		command := spec.Bag.Command
		if spec.Stage != nil { // its folder is named after the output; its last word distinguishes its scripts
			command = []string{spec.Stage.Name + ".sh", command[len(command)-1]}
		} else {
			command = spelled(command, spec.Dir)
		}
		label = labelOf(command)
		fmt.Fprintf(h, "bag %q %v", command, spec.Bag.Shell)
		if spec.Bag.Several() {
			fmt.Fprintf(h, " of %d ranks", spec.Bag.Ranks)
		}
		if namesRelative(command, nil) {
			fmt.Fprintf(h, " in %q", spec.Dir)
		}
	default:
		label = mapReduceIdentity(h, spec, ships, spelled)
	}
	return label + "-" + hex.EncodeToString(h.Sum(nil)[:6])
}

// namedIdentity writes the identity of a job whose user names the application to h and returns its label.
func namedIdentity(h io.Writer, spec *job.Spec) string {
	fmt.Fprintf(h, "named %q %q", spec.Kind, spec.Application)
	if spec.Stage != nil {
		fmt.Fprintf(h, " stage %q", spec.Stage.Name)
	}
	return shortName(spec.Application)
}

// Label returns the readable part of an Application: "map.awk+reduce.awk".
func Label(app string) string {
	if i := strings.LastIndexByte(app, '-'); i > 0 {
		return app[:i]
	}
	return app
}

// mapReduceIdentity writes the parts of the identity of a MapReduce job to h and returns its label.
func mapReduceIdentity(h io.Writer, spec *job.Spec, ships func(job.ShipFile) string, spelled spelling) string {
	mr := spec.MapReduce
	label := programLabel(&mr.Mapper, spec.Dir, spelled)
	programs := []*job.Program{&mr.Mapper, mr.Combiner, mr.Reducer}
	relative := false
	for _, p := range programs {
		if p == nil {
			fmt.Fprint(h, "none;")
			continue
		}
		args := spelled(p.Args, spec.Dir)
		fmt.Fprintf(h, "%q %q;", p.Native, args)
		for _, f := range mr.Files {
			if Mentions(args, f.Name) {
				fmt.Fprint(h, ships(f))
			}
		}
		relative = relative || namesRelative(args, mr.Files)
	}
	if relative {
		fmt.Fprintf(h, "in %q;", spec.Dir)
	}
	fmt.Fprintf(h, "%q %q %d %q %q;%q %q %d %q %q;%q", mr.InputFormat, mr.MapOutputSeparator, mr.MapOutputKeyFields,
		mr.ReduceOutputSeparator, mr.KeyFieldSeparator, mr.Partitioner, mr.PartitionOptions, mr.PartitionFields,
		mr.Comparator, mr.ComparatorOptions, mr.Compress)
	if mr.Reducer != nil {
		label += "+" + programLabel(mr.Reducer, spec.Dir, spelled)
	}
	return label
}

func programLabel(p *job.Program, dir string, spelled spelling) string {
	if p.Native != "" {
		return p.Native
	}
	return labelOf(spelled(p.Args, dir))
}

// labelSize is the largest length of the label of one command.
const labelSize = 24

var unprintable = pattern.Lazy(`[^A-Za-z0-9._+-]+`)

// labelOf returns a short name of a command: its script rather than the interpreter that runs it.
func labelOf(command []string) string {
	all := words(command)
	if len(all) == 0 {
		return "none"
	}
	named := slices.IndexFunc(all, script().MatchString)
	return shortName(path.Base(all[max(named, 0)]))
}

// words returns the words of a command, also those of one for a shell.
func words(command []string) []string { return strings.Fields(strings.Join(command, " ")) }

// shortName returns a name as a label has it.
func shortName(name string) string {
	name = strings.Trim(unprintable().ReplaceAllString(name, "-"), "-")
	return name[:min(len(name), labelSize)]
}

var (
	// script is a word that names a program text: a path with an extension of letters.
	script = pattern.Lazy(`^[\w./~+-]*\w\.[A-Za-z][A-Za-z0-9]{0,4}$`)
	// relativeFile is a word that may name a file by a relative path.
	relativeFile = pattern.Lazy(`^[\w.~+][\w.~+-]*(/[\w.~+-]+)*$`)
)

// namesRelative reports whether a word of the command may name a file below the user's folder that is not shipped: a
// relative path with a slash or a dot.
func namesRelative(command []string, shipped []job.ShipFile) bool {
	return slices.ContainsFunc(words(command), func(w string) bool {
		return relativeFile().MatchString(w) && strings.ContainsAny(w, "./") &&
			!slices.ContainsFunc(shipped, func(f job.ShipFile) bool { return path.Clean(w) == f.Name })
	})
}

// Mentions reports whether a word of the command is the name of that shipped file.
func Mentions(command []string, name string) bool {
	return slices.ContainsFunc(words(command), func(w string) bool { return path.Clean(w) == name })
}
