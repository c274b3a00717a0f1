package process

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"berth/internal/disk"
)

// maxSingly is up to how many outputs are synced one by one. More are synced with all that
// is dirty on their file system, which costs one journal commit of it and not thousands, but
// waits for what other programs wrote there, too.
const maxSingly = 16

// Durable remembers the outputs of bag tasks that were put into place and may not be on a
// disk yet. To sync each as its task ends would double the time of short tasks; so the
// coordinator asks before it makes durable that they are done: about once a second, and less
// often where a sync takes long.
type Durable struct {
	syncFile func(path string) error // a file or a folder
	syncDisk func(dir string) error  // the file system that the folder is on

	syncing sync.Mutex // held by sync
	mu      sync.Mutex
	files   []string          // put into place, the first maxSingly of them
	more    bool              // there are more
	disks   map[uint64]string // by device: a folder on it that holds one
	shared  map[string]bool   // files to which outputs were appended
}

func NewDurable() *Durable {
	return &Durable{syncFile: disk.SyncPlain, syncDisk: disk.SyncFileSystem, disks: make(map[uint64]string), shared: make(map[string]bool)}
}

// Note takes up an output that was put into place.
func (d *Durable) Note(a *Output) {
	if a.path == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.disks[a.dev] == "" {
		d.disks[a.dev] = filepath.Dir(a.path)
	}
	if len(d.files) < maxSingly {
		d.files = append(d.files, a.path)
	} else {
		d.more = true
	}
}

// NoteShared takes up an output that was appended to a file of many.
func (d *Durable) NoteShared(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shared[path] = true
}

// Sync returns when all outputs that were noted before are on their disks, names included.
func (d *Durable) Sync() error {
	d.syncing.Lock()
	defer d.syncing.Unlock()
	d.mu.Lock()
	files, more, disks, shared := d.files, d.more, d.disks, slices.Sorted(maps.Keys(d.shared))
	d.files, d.more, d.disks = nil, false, make(map[uint64]string)
	clear(d.shared)
	d.mu.Unlock()
	errs := []error{d.each(shared)}
	if !more {
		errs = append(errs, d.each(files))
		if errors.Join(errs...) == nil {
			return nil
		}
	}
	for _, dir := range disks {
		if err := d.syncDisk(dir); !errors.Is(err, fs.ErrNotExist) { // the user removed it, outputs and all
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// each syncs files, and then the folders that hold their names.
func (d *Durable) each(files []string) error {
	dirs := make(map[string]bool)
	var errs []error
	for _, path := range files {
		dirs[filepath.Dir(path)] = true
		switch err := d.syncFile(path); {
		case errors.Is(err, fs.ErrNotExist): // the user took it away
		case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.ELOOP): // the user changed it: it need not be read for that
			errs = append(errs, d.syncDisk(filepath.Dir(path)))
		default:
			errs = append(errs, err)
		}
	}
	for dir := range dirs {
		if err := d.syncFile(dir); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
