package input

import (
	"path"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
)

// addObjects adds the objects that an input names: the object of exactly this name, and the objects below it as if it were a folder. Globs match as they do for paths.
func (f *finder) addObjects(input string, opts SplitOptions) error {
	patterns, prefix := []string{}, input
	if i := strings.IndexAny(input, `*?[{\`); i >= 0 {
		prefix = input[:i]
		var err error
		if patterns, err = pattern.Braces(input); err != nil {
			return noInput(input, "input is not a valid pattern")
		}
	}
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return noInput(input, "input is not a valid pattern")
		}
	}
	var refused error
	found := false
	first := len(f.files)
	err := opts.List(prefix, func(name string, size int64, tag string) {
		named, is := namedObject(name, input, patterns)
		if !is {
			return
		}
		found = true
		selected, err := f.selectsBelow(named, strings.TrimPrefix(name[len(named):], "/"))
		if refused == nil {
			refused = err
		}
		if selected {
			f.files = append(f.files, inputFile{Range: job.Range{Path: name, Size: size, Tag: tag}, packed: f.packed(name)})
		}
	})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return refused
	case !found && len(patterns) > 0:
		return noInput(input, "input matches nothing")
	case !found:
		return noInput(input, "input does not exist")
	}
	return correctTags(f.files[first:], opts.Tag)
}

// correctTags asks for the entity tag of the first object. Where it is not the listed one, as some servers list none or others, it asks for that of each object.
func correctTags(files []inputFile, tag func(name string) (string, error)) error {
	for i := range files {
		t, err := tag(files[i].Path)
		if err != nil || i == 0 && t == files[i].Tag {
			return err
		}
		files[i].Tag = t
	}
	return nil
}

// namedObject returns the part of an object's name that an input names: the whole name, or the name up to a slash.
func namedObject(name, input string, patterns []string) (named string, is bool) {
	if len(patterns) == 0 {
		return input, name == input || strings.HasPrefix(name, input+"/")
	}
	for _, p := range patterns {
		depth := strings.Count(p, "/") + 1
		parts := strings.SplitN(name, "/", depth+1)
		if len(parts) < depth {
			continue
		}
		named, last, wanted := strings.Join(parts[:depth], "/"), parts[depth-1], p[strings.LastIndexByte(p, '/')+1:]
		if match, _ := path.Match(p, named); match && (!hiddenPart(last) || wanted[0] == last[0]) {
			return named, true
		}
	}
	return "", false
}

// hiddenPart reports whether a part of an object's name hides the object. Names are joined from variables, so "", "." and ".." are no names of hidden folders.
func hiddenPart(part string) bool { return part != "" && part != "." && part != ".." && hidden(part) }

// selectsBelow reports whether an object is part of the input. named is the part of its name that the input names, below is the rest. An empty rest stands for
// the named object itself.
func (f *finder) selectsBelow(named, below string) (bool, error) {
	if below == "" {
		return true, nil
	}
	parts := strings.Split(below, "/")
	if slices.ContainsFunc(parts, hiddenPart) || !f.included(parts[len(parts)-1]) {
		return false, nil
	}
	if len(parts) == 1 {
		return true, nil
	}
	return f.readsFolder(named + "/" + strings.Join(parts[:len(parts)-1], "/"))
}
