package plant

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/google/renameio/v2"
	"github.com/vmihailenco/msgpack/v5"

	"berth/internal/hits/code"
)

// build identifies the build of this program by its file: another build may analyse an object differently.
var build = sync.OnceValue(func() string {
	st, err := os.Stat("/proc/self/exe")
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d-%d", st.Size(), st.ModTime().UnixNano())
})

// load returns the object in a file. It reads it from dir if it is there; otherwise it analyses the
// file and writes the result to dir.
func load(dir string, f *os.File, id fileID, writing *sync.WaitGroup) (*object, error) {
	path := ""
	if dir != "" && build() != "" {
		path = filepath.Join(dir, "objects", fmt.Sprintf("%s-%d-%s", name(f, id), id.size, build()))
		if o := read(path); o != nil {
			o.file = id
			return o, nil
		}
	}
	text, err := analyseApart(f)
	if err != nil {
		return nil, err
	}
	o := decode(bytes.NewReader(text))
	if o == nil {
		return nil, errors.New("the result of its analysis cannot be read")
	}
	if o.file = id; path != "" {
		writing.Go(func() { write(path, text) })
	}
	return o, nil
}

// name identifies an object by its build-id, or by its file's identity.
func name(f io.ReaderAt, id fileID) string {
	if b := code.BuildID(f); b != "" {
		return b
	}
	return fmt.Sprintf("file-%x-%x-%x", id.dev, id.inode, id.mtime)
}

// read returns a kept object, or nil if there is none.
func read(path string) *object {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close() // nothing was written
	return decode(f)
}

// decode returns an encoded object, or nil if it cannot be read.
func decode(r io.Reader) *object {
	o := &object{Object: &code.Object{}}
	if msgpack.NewDecoder(r).Decode(o.Object) != nil {
		return nil
	}
	return o
}

func encode(to io.Writer, o *code.Object) error {
	w := bufio.NewWriterSize(to, 1<<16) // the encoder makes a call for nearly every byte
	e := msgpack.NewEncoder(w)
	e.UseArrayEncodedStructs(true)
	return errors.Join(e.Encode(o), w.Flush())
}

// write keeps an encoded object. A failure only means that the object will be analysed again.
func write(path string, text []byte) {
	if os.MkdirAll(filepath.Dir(path), 0o700) == nil && renameio.WriteFile(path, text, 0o600) == nil {
		clean(filepath.Dir(path), maxKept)
	}
}

// maxKept is the size of all kept objects, in bytes. A developer's programs change with every build.
const maxKept = 256 << 20

// clean removes the oldest files of a folder until those that are left have at most so many bytes.
func clean(dir string, most int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []os.FileInfo
	for _, e := range entries {
		if st, err := e.Info(); err == nil { // else it was removed meanwhile
			files, most = append(files, st), most-st.Size()
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, st := range files {
		if most >= 0 {
			return
		}
		if os.Remove(filepath.Join(dir, st.Name())) == nil {
			most += st.Size()
		}
	}
}
