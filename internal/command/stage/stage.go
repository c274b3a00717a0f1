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
	"berth/internal/sys/statedir"
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

	kept bool // the folder was there, with parts that are used
}

// Check sets the number of parts if the default split determines it, and returns an error if the stages cannot run.
func (p *Plan) Check(cores int) error {
	info, err := os.Stat(p.Input)
	switch {
	case err != nil && p.Input != "":
		return job.InputError("input", "cannot be read", "check the path").Because(err)
	case p.Input == "" && p.Scripts[Split] == "":
		return job.ConfigError("input", "is missing", "name the input, or write a script for the split that makes the parts")
	case p.Input != "" && info.IsDir() && p.Scripts[Split] == "":
		files, err := filepath.Glob(filepath.Join(p.Input, "*"))
		if err != nil || len(files) == 0 {
			return job.ConfigError("input", p.Input+" has no files", "each file of a folder is a part")
		}
		if p.Parts != 0 && p.Parts != len(files) {
			return job.ConfigError("parts", fmt.Sprintf("%s has %d files, each of which is a part, and not %d", p.Input, len(files), p.Parts), "leave parts out, or write a script for the split")
		}
		p.Parts = len(files)
	case p.Parts == 0:
		p.Parts = cores
	}
	if _, err := os.Lstat(p.Output); err == nil {
		return job.OutputError("output", p.Output+" exists", "remove it, or choose another name")
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

// made has digests of what a folder was made for: the split and its input, and the scripts of the other stages.
type made struct{ Split, Operation, Merge string }

func (p *Plan) made() made {
	of := fmt.Sprintln(p.digest(Split), p.Parts, p.Input)
	files, _ := filepath.Glob(filepath.Join(p.Input, "*"))
	for _, name := range append(files, p.Input) {
		if info, err := os.Stat(name); err == nil {
			of += fmt.Sprintln(name, info.Size(), info.ModTime())
		}
	}
	return made{fmt.Sprintf("%x", sha256.Sum256([]byte(of))), p.digest(Operation), p.digest(Merge)}
}

// madeFile is the name of the file with what the folder was made for.
const madeFile = "made.json"

// Write creates the folder with the scripts. If the folder exists and was made for the same split, with other scripts of the other stages,
// its parts are kept, and with the same script of the operation also what that has made of them. If it has other parts, or is the same,
// Write returns an error. free returns an error if a job that is not over works in the folder.
func (p *Plan) Write(free func() error) error {
	err := os.Mkdir(p.Folder, 0o777)
	if errors.Is(err, fs.ErrExist) {
		err = p.again(free)
	}
	if known := (*job.Error)(nil); errors.As(err, &known) {
		return err
	}
	if err == nil {
		err = statedir.WriteJSON(filepath.Join(p.Folder, madeFile), p.made())
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(p.Folder, "out"), 0o777)
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
		return job.IOError(job.User, p.Folder, "the folder of the parts cannot be created", err)
	}
	return nil
}

// again makes a folder that exists fit for the plan.
func (p *Plan) again(free func() error) error {
	var was made
	read := statedir.ReadJSON(filepath.Join(p.Folder, madeFile), &was)
	_, none := os.Stat(filepath.Join(p.Folder, "in")) // the split makes it at its end
	anew := p.left()
	switch now := p.made(); {
	case anew:
	case read != nil || was == now || none == nil && was.Split != now.Split:
		what, do := "it contains the parts of an earlier run", "continue that run with berth resume, remove the folder, or name another one"
		if read == nil && was != now {
			what, do = "it contains the parts of another split, or of another input", "remove the folder, or name another one"
		}
		return job.OutputError("folder", p.Folder+" is not empty: "+what, do)
	default:
		if err := free(); err != nil {
			return err
		}
		if anew = none != nil; anew {
			break
		}
		if p.kept = true; was.Operation == now.Operation {
			return nil
		}
		return os.RemoveAll(filepath.Join(p.Folder, "out"))
	}
	return errors.Join(p.Remove(), os.Mkdir(p.Folder, 0o777))
}

// left reports whether the folder was left by a run that is done: it contains scripts but no parts.
func (p *Plan) left() bool {
	files, err := os.ReadDir(p.Folder)
	for _, f := range files {
		if f.IsDir() || f.Name() != madeFile && filepath.Ext(f.Name()) != ".sh" && filepath.Ext(f.Name()) != ".script" {
			return false
		}
	}
	return err == nil
}

// Remove removes the folder, unless it has parts that were kept.
func (p *Plan) Remove() error {
	if p.kept {
		return nil
	}
	return os.RemoveAll(p.Folder)
}
