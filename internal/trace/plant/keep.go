package plant

import (
	"debug/elf"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/renameio/v2"

	"berth/internal/trace/code"
)

// kept is an analysed object on disk.
type kept struct {
	By        string // the build of berth that has analysed it: another may know better
	Object    *code.Object
	Loads     []elf.ProgHeader
	Originals [][]byte
}

// build identifies the build of this program, by its file.
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

// load returns the object in a file, from the folder if it is there, else analysed and put there.
func load(dir string, f *os.File, id fileID, writing *sync.WaitGroup) (*object, error) {
	path := ""
	if dir != "" && build() != "" {
		path = filepath.Join(dir, "objects", fmt.Sprintf("%s-%d", name(f, id), id.size))
		if o := read(path); o != nil {
			o.file = id
			return o, nil
		}
	}
	o, err := analyse(f)
	if err != nil {
		return nil, err
	}
	if o.file = id; path != "" {
		writing.Go(func() { write(path, o) })
	}
	return o, nil
}

// name returns what tells an object from others: its build-id, or what the file system says of it.
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

// read returns a kept object, nil where there is none of this build.
func read(path string) *object {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // nothing was written
	var k kept
	if gob.NewDecoder(f).Decode(&k) != nil || k.By != build() || k.Object == nil || len(k.Originals) != len(k.Object.Functions) {
		return nil
	}
	return &object{Object: k.Object, loads: k.Loads, originals: k.Originals}
}

// write keeps an object. It is a help: where it cannot be written, it is analysed again.
func write(path string, o *object) {
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600))
	if err != nil {
		return
	}
	defer func() { _ = f.Cleanup() }() // of what was not put in place
	if gob.NewEncoder(f).Encode(kept{By: build(), Object: o.Object, Loads: o.loads, Originals: o.originals}) == nil {
		_ = f.CloseAtomicallyReplace()
	}
}
