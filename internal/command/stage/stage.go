package stage

import (
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// Names contains the names of the stages in their order.
var Names = [...]string{Split, Operation, Merge}

// The names of the stages.
const (
	Split     = "split"
	Operation = "operation"
	Merge     = "merge"
)

var (
	//go:embed split.sh
	splitScript string
	//go:embed operation.sh
	operationScript string
	//go:embed merge.sh
	mergeScript string

	own = map[string]string{Split: splitScript, Operation: operationScript, Merge: mergeScript}
)

// Plan describes what all stages of a job have in common.
type Plan struct {
	Input, Output string // absolute paths of what the split reads and of what the merge makes
	Folder        string // absolute path of the folder with the parts
	Parts         int
	Keep          bool              // keep the parts when the job is done
	Scripts       map[string]string // the user's scripts by stage; a stage without one has its default
}

// Check sets the number of parts if the default split determines it, and returns an error if the stages cannot run.
func (p *Plan) Check(cores int) error {
	wrong := func(where, what, do string) error {
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: where, What: what, Do: do}
	}
	info, err := os.Stat(p.Input)
	switch {
	case err != nil && p.Input != "":
		return &job.Error{Class: job.User, Code: job.CodeNoInput, Where: "input", What: "cannot be read", Err: err, Do: "check the path"}
	case p.Input == "" && p.Scripts[Split] == "":
		return wrong("input", "is missing", "name the input, or write a script for the split that makes the parts")
	case p.Input != "" && info.IsDir() && p.Scripts[Split] == "":
		files, err := filepath.Glob(filepath.Join(p.Input, "*"))
		if err != nil || len(files) == 0 {
			return wrong("input", p.Input+" has no files", "each file of a folder is a part")
		}
		if p.Parts != 0 && p.Parts != len(files) {
			return wrong("parts", fmt.Sprintf("%s has %d files, each of which is a part, and not %d", p.Input, len(files), p.Parts), "leave parts out, or write a script for the split")
		}
		p.Parts = len(files)
	case p.Parts == 0:
		p.Parts = cores
	}
	if _, err := os.Lstat(p.Output); err == nil {
		return &job.Error{Class: job.User, Code: job.CodeOutputExists, Where: "output", What: p.Output + " exists", Do: "remove it, or choose another name"}
	}
	return nil
}

// Fill fills in the spec of the bag of a stage, and returns its entries. dir is the folder in which its tasks run.
func (p *Plan) Fill(s *job.Spec, name, dir string) []job.Entry {
	folder := p.Folder
	if below, err := filepath.Rel(dir, folder); err == nil && !strings.HasPrefix(below, "../") {
		folder = below // so that the command, which identifies the profile, does not depend on the job's folder
	}
	s.Stage = &job.Stage{Name: name, Folder: p.Folder, Keep: p.Keep}
	s.Bag.Command = []string{"/bin/sh", filepath.Join(folder, name+".sh"), filepath.Join(folder, "in", "{}"), p.digest(name)}
	entries := []job.Entry{{name}}
	switch name {
	case Operation:
		s.Bag.Array = true
		s.Bag.DuplicatesOK = true // each attempt renames its result into place
		entries = make([]job.Entry, p.Parts)
		for i := range entries {
			entries[i] = job.Entry{strconv.Itoa(i + 1)}
		}
	default:
		s.Bag.Trusted = true // it has one task, on which all others depend
		s.Bag.Command = append(s.Bag.Command[:2:2], p.digest(name))
	}
	if name == Split && p.Input != "" {
		entries[0][0] = p.Input // so that its progress can be measured by what it has read
	}
	keep := "0"
	if p.Keep {
		keep = "1"
	}
	s.Stage.Env = append(s.Stage.Env, "BERTH_STAGE="+name, "BERTH_PARTS="+strconv.Itoa(p.Parts), "BERTH_PARTS_FOLDER="+p.Folder,
		"BERTH_JOB_INPUT="+p.Input, "BERTH_JOB_OUTPUT="+p.Output, "BERTH_KEEP_PARTS="+keep)
	return entries
}

// digest returns a hash of the scripts of a stage, so that each version of them has its own profile.
func (p *Plan) digest(name string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(own[name]+p.Scripts[name])))[:8]
}

// Write creates the folder with the scripts. If the folder exists and has parts, Write returns an error, as it may belong
// to a job that is not over.
func (p *Plan) Write() error {
	err := os.Mkdir(p.Folder, 0o777)
	if errors.Is(err, fs.ErrExist) && p.left() {
		err = errors.Join(p.Remove(), os.Mkdir(p.Folder, 0o777))
	}
	if errors.Is(err, fs.ErrExist) {
		return &job.Error{Class: job.User, Code: job.CodeOutputExists, Where: "folder", What: p.Folder + " is not empty: it contains the parts of an earlier run",
			Do: "continue that run with berth resume, remove the folder, or name another one"}
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(p.Folder, "out"), 0o777)
	}
	for _, name := range Names {
		if err == nil {
			err = os.WriteFile(filepath.Join(p.Folder, name+".sh"), []byte(own[name]), 0o666)
		}
		if script := p.Scripts[name]; err == nil && script != "" {
			if !strings.HasPrefix(script, "#!") {
				script = "#!/bin/sh -e\n" + script + "\n"
			}
			err = os.WriteFile(filepath.Join(p.Folder, name+".script"), []byte(script), 0o777)
		}
	}
	if err != nil {
		return &job.Error{Class: job.User, Code: job.CodeIO, Where: p.Folder, What: "the folder of the parts cannot be created", Err: err}
	}
	return nil
}

// left reports whether the folder was left by a run that is done: it contains scripts but no parts.
func (p *Plan) left() bool {
	files, err := os.ReadDir(p.Folder)
	for _, f := range files {
		if f.IsDir() || filepath.Ext(f.Name()) != ".sh" && filepath.Ext(f.Name()) != ".script" {
			return false
		}
	}
	return err == nil
}

// Remove removes the folder.
func (p *Plan) Remove() error { return os.RemoveAll(p.Folder) }
