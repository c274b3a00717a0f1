package plant

import (
	"bufio"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/renameio/v2"
	"github.com/vmihailenco/msgpack/v5"

	"berth/internal/hits/code"
)

// kept is an analysed object on disk.
type kept struct {
	By        string // the build of berth that analysed it; another build may analyse differently
	Object    *code.Object
	Loads     []elf.ProgHeader
	Originals [][]byte
}

// build identifies the build of this program by its file.
var build = sync.OnceValue(func() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	st, err := os.Stat(exe)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d", st.Size(), st.ModTime().UnixNano())
})

// load returns the object in a file. It reads it from dir if it is there; otherwise it analyses the
// file and writes the result to dir.
func load(dir string, f *os.File, id fileID, writing *sync.WaitGroup) (*object, error) {
	path := ""
	if dir != "" && build() != "" {
		path = filepath.Join(dir, "objects", fmt.Sprintf("%s-%d", name(f, id), id.size))
		if o := read(path); o != nil {
			o.file = id
			return o, nil
		}
	}
	o, err := analyse(io.NewSectionReader(f, 0, int64(id.size)))
	if err != nil {
		return nil, err
	}
	if o.file = id; path != "" {
		writing.Go(func() { write(path, o) })
	}
	return o, nil
}

// name identifies an object by its build-id, or by its file's identity.
func name(f io.ReaderAt, id fileID) string {
	file, err := elf.NewFile(f)
	if err == nil {
		if s := file.Section(".note.gnu.build-id"); s != nil && s.Size > 16 && s.Size < 128 {
			if b, err := s.Data(); err == nil {
				return hex.EncodeToString(b[16:])
			}
		}
	}
	return fmt.Sprintf("file-%x-%x-%x", id.dev, id.inode, id.mtime)
}

// read returns a kept object, or nil if there is none of this build.
func read(path string) *object {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // nothing was written
	var k kept
	if msgpack.NewDecoder(f).Decode(&k) != nil || k.By != build() || k.Object == nil || len(k.Originals) != len(k.Object.Functions) {
		return nil
	}
	return &object{Object: k.Object, loads: k.Loads, originals: k.Originals}
}

// write keeps an object. A failure only means that the object will be analysed again.
func write(path string, o *object) {
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600))
	if err != nil {
		return
	}
	defer func() { _ = f.Cleanup() }() // removes the temporary file after an error
	w := bufio.NewWriterSize(f, 1<<16) // the encoder makes a call for nearly every byte
	if msgpack.NewEncoder(w).Encode(kept{By: build(), Object: o.Object, Loads: o.loads, Originals: o.originals}) == nil && w.Flush() == nil {
		_ = f.CloseAtomicallyReplace()
	}
}
