package streaming

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/sys/procattr"
)

// checkProgram refuses a command whose program does not exist or cannot be executed. Otherwise this would show only
// after all attempts of a task had failed. It does not check programs of other machines, nor without a PATH.
func (b *builder) checkProgram(where string, words []string) error {
	program := words[0]
	elsewhere := !slices.Contains([]string{"", "auto", "local"}, b.spec.Request.On)
	if _, known := job.LookupEnv(b.env, "PATH"); !known || elsewhere {
		return nil
	}
	if shipped, exactly := b.shippedFile(program); shipped != "" {
		return b.checkFile(where, shipped, exactly)
	}
	if filepath.IsAbs(program) && b.isFile(program) {
		return b.checkFile(where, program, false)
	}
	if b.shipped(path.Clean(program)) || !strings.Contains(program, "/") && b.onPath(program) {
		return nil
	}
	return job.ConfigError(where, fmt.Sprintf("there is no program %q: not here, not among the shipped files, not on PATH", program), "check its name")
}

// shippedFile returns the user's file that a task sees as program, or "" if there is none or if it is in an archive.
// exactly says that the file itself is shipped, and not a folder that contains it. It then needs no permission to
// be executed.
func (b *builder) shippedFile(program string) (file string, exactly bool) {
	name := path.Clean(program)
	for _, f := range b.mr.Files {
		rest, within := strings.CutPrefix(name, f.Name)
		if !within || f.Archive || rest != "" && rest[0] != '/' {
			continue
		}
		if file = filepath.Join(f.Path, rest); b.isFile(file) {
			return file, rest == ""
		}
	}
	return "", false
}

// checkFile refuses the file of a program that cannot be executed, or whose interpreter does not exist. executable
// says that berth sets the permission.
func (b *builder) checkFile(where, file string, executable bool) error {
	info, err := os.Stat(file)
	if err != nil {
		return nil // the file existed a moment ago; tasks will report the error
	}
	if !executable && info.Mode()&0o111 == 0 {
		return job.ConfigError(where, file+" has no permission to be executed", "chmod +x "+job.Quote(file))
	}
	head, _ := readHead(file, headSize) // tasks will report the error
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	switch {
	case bytes.HasPrefix(line, []byte("\xef\xbb\xbf#!")):
		return job.ConfigError(where, file+" begins with a byte order mark, so its first line is not seen", `take it off: sed -i '1s/^\xEF\xBB\xBF//' `+job.Quote(file))
	case bytes.HasPrefix(line, []byte("#!")):
		return b.checkInterpreter(where, file, string(line[2:]))
	case bytes.IndexByte(head, 0) < 0 && len(head) > 0:
		if ext := filepath.Ext(file); ext != "" && ext != ".sh" {
			b.warn("%s: %s has no #! line, so /bin/sh runs it; give it one, or write the interpreter before its name", where, file)
		}
	}
	return nil
}

// headSize is the number of bytes of a program that are read; kernels read 256.
const headSize = 512

// readHead returns the first bytes of a file, at most so many.
func readHead(file string, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	return io.ReadAll(io.LimitReader(f, most))
}

// checkInterpreter refuses a script whose first line names, after #!, an interpreter that does not exist.
func (b *builder) checkInterpreter(where, file, line string) error {
	words := strings.Fields(strings.TrimSuffix(line, "\r"))
	if len(words) == 0 {
		return job.ConfigError(where, "the first line of "+file+" names no interpreter", "write one behind the #!")
	}
	interpreter := words[0]
	// Only perl ignores a carriage return, and only after an option.
	if strings.HasSuffix(line, "\r") && !(len(words) > 1 && strings.HasPrefix(path.Base(interpreter), "perl")) {
		return job.ConfigError(where, file+" has Windows line ends, so that the name of its interpreter ends with a carriage return",
			`take them off: sed -i 's/\r$//' `+job.Quote(file))
	}
	there := b.isFile(interpreter)
	if path.Base(interpreter) == "env" && there && len(words) == 2 && !strings.ContainsAny(words[1], "-=/") {
		interpreter = words[1]
		there = b.onPath(interpreter)
	}
	if filepath.IsAbs(words[0]) && !there {
		return job.ConfigError(where, fmt.Sprintf("the first line of %s names the interpreter %s, which is not here", file, interpreter),
			"mend that line, or write an interpreter before the script's name")
	}
	return nil
}

// onPath reports whether tasks find a program on their PATH.
func (b *builder) onPath(program string) bool {
	return procattr.LookPath(job.Getenv(slices.Concat(b.env, b.mr.CmdEnv), "PATH"), ".", program) != ""
}
