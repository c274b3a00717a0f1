package dfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/internal/core/pattern"
)

// Shell runs commands of Hadoop's file system shell.
type Shell struct {
	Root string // folder for hdfs: URIs; empty: there is none
	In   io.Reader
	Out  io.Writer
	Err  io.Writer
}

// command is a command of the shell.
type command struct {
	options string // options that it accepts, letters or words separated by blanks
	least   int    // smallest number of arguments
	run     func(*call) error
}

// call is one command line.
type call struct {
	*Shell
	name    string
	options map[string]bool
	args    []string
}

// file is what an argument names.
type file struct {
	path string // path on this machine
	name string // name that the user wrote
}

// commands has the commands that clients and scripts use.
var commands map[string]command

func init() {
	commands = map[string]command{
		"ls": {"R d h C", 0, list}, "lsr": {"", 0, list}, "mkdir": {"p", 1, mkdir}, "touchz": {"", 1, touch}, "touch": {"", 1, touch},
		"put": {"f p", 1, put}, "copyFromLocal": {"f p", 1, put}, "moveFromLocal": {"", 1, put}, "get": {"f p crc ignoreCrc", 1, get},
		"copyToLocal": {"f p crc ignoreCrc", 1, get}, "getmerge": {"nl", 2, getmerge}, "cat": {"ignoreCrc", 1, cat}, "text": {"", 1, cat},
		"head": {"", 1, head}, "tail": {"", 1, tail}, "cp": {"f p", 2, get}, "mv": {"", 2, move},
		"rm": {"r R f skipTrash safely", 1, remove}, "rmr": {"skipTrash", 1, remove}, "rmdir": {"ignore-fail-on-non-empty", 1, rmdir},
		"test": {"e d f s z r w", 1, test}, "du": {"s h x v", 0, usage}, "dus": {"", 0, usage}, "count": {"q h", 1, count}, "chmod": {"R", 2, chmod},
	}
}

// Names returns the names of all commands with their dash, in order.
func Names() []string {
	names := slices.Sorted(maps.Keys(commands))
	for i, n := range names {
		names[i] = "-" + n
	}
	return names
}

// errFalse means that the answer of -test is no.
var errFalse = errors.New("")

// Run runs a command line, for example "-ls", "-R", "/data", and returns its exit code: 0 for success, 1 for failure,
// 255 for an unknown or malformed command.
func (s *Shell) Run(args []string) int {
	if len(args) == 0 {
		fmt.Fprintf(s.Err, "Usage: hadoop fs [generic options]\n\t[%s]\n", strings.Join(Names(), "]\n\t["))
		return 255
	}
	name := strings.TrimPrefix(args[0], "-")
	c, known := commands[name]
	if !known || name == args[0] {
		fmt.Fprintf(s.Err, "%s: Unknown command: berth has %s\n", args[0], strings.Join(Names(), " "))
		return 255
	}
	call := &call{Shell: s, name: name, options: map[string]bool{}}
	if wrong := call.parse(c, args[1:]); wrong != "" {
		fmt.Fprintf(s.Err, "-%s: %s\n", name, wrong)
		return 255
	}
	failed := 0
	for _, err := range unjoin(c.run(call)) {
		if failed = 1; err.Error() != "" {
			fmt.Fprintf(s.Err, "%s: %s\n", name, message(err))
		}
	}
	return failed
}

// parse separates options from arguments, and returns what is wrong with them. A single dash means standard input or
// output.
func (c *call) parse(of command, args []string) (wrong string) {
	allowed := strings.Fields(of.options)
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		option := args[0][1:]
		if args = args[1:]; option == "-" {
			break
		}
		if !slices.Contains(allowed, option) {
			return "Illegal option -" + option
		}
		c.options[option] = true
	}
	if c.args = args; len(args) < of.least {
		return fmt.Sprintf("Not enough arguments: expected %d but got %d", of.least, len(args))
	}
	return ""
}

// unjoin returns the errors that were joined.
func unjoin(err error) []error {
	var joined interface{ Unwrap() []error }
	switch {
	case err == nil:
		return nil
	case errors.As(err, &joined):
		return joined.Unwrap()
	}
	return []error{err}
}

// message returns the text of an error in Hadoop's words, because its clients search for them.
func message(err error) string {
	var of *fs.PathError
	if !errors.As(err, &of) {
		return err.Error()
	}
	for is, words := range map[error]string{fs.ErrNotExist: "No such file or directory", fs.ErrExist: "File exists", fs.ErrPermission: "Permission denied"} {
		if errors.Is(err, is) {
			return refuse(of.Path, words).Error()
		}
	}
	return refuse(of.Path, of.Err.Error()).Error()
}

// missing returns the error for an argument that names no file.
func missing(name string) error { return &fs.PathError{Path: name, Err: fs.ErrNotExist} }

// child returns the file of a name in a folder.
func (f file) child(name string) file {
	return file{filepath.Join(f.path, name), strings.TrimSuffix(f.name, "/") + "/" + name}
}

// refuse returns the error for a file, in Hadoop's form.
func refuse(name, why string) error { return fmt.Errorf("`%s': %s", name, why) }

// resolve returns the file that an argument names. It does not expand wildcards.
func (c *call) resolve(arg string) (file, error) {
	path, err := Path(arg, c.Root)
	return file{path: path, name: arg}, err
}

// files returns the files that match an argument, possibly none.
func (c *call) files(arg string) ([]file, error) {
	f, err := c.resolve(arg)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(f.path); err == nil || !strings.ContainsAny(f.path, "*?[{") {
		return []file{f}, nil
	}
	var all []file
	patterns, err := pattern.Braces(f.path)
	if err != nil {
		return nil, refuse(arg, err.Error())
	}
	for _, p := range patterns {
		found, err := filepath.Glob(p)
		if err != nil {
			return nil, refuse(arg, err.Error())
		}
		for _, path := range found {
			all = append(all, file{path, c.nameOf(f, path)})
		}
	}
	return all, nil
}

// nameOf returns the name of a path that matched a pattern, in the form of the pattern.
func (c *call) nameOf(pattern file, path string) string {
	prefix, ok := strings.CutSuffix(pattern.name, strings.TrimPrefix(pattern.path, c.Root))
	if rest := strings.TrimPrefix(path, c.Root); ok && strings.HasPrefix(pattern.name, "hdfs:") {
		return prefix + rest
	}
	if strings.HasPrefix(pattern.name, "file:") {
		return "file://" + path
	}
	return path
}

// each calls do with every file that the arguments name. A file that does not exist is an error.
func (c *call) each(args []string, do func(file, fs.FileInfo) error) error {
	var errs []error
	for _, arg := range args {
		found, err := c.files(arg)
		if err == nil && len(found) == 0 {
			err = missing(arg)
		}
		errs = append(errs, err)
		for _, f := range found {
			info, err := os.Stat(f.path)
			if errors.Is(err, fs.ErrNotExist) {
				err = missing(f.name)
			}
			if err == nil {
				err = do(f, info)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
