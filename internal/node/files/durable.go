package files

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"berth/internal/sys/disk"
)

// maxSingly is the largest number of outputs that are synced one by one. More outputs are synced
// together with everything else that is dirty on their file system. That needs a single commit of
// the file system's journal instead of thousands, but it also waits for what other programs wrote.
const maxSingly = 16

// Durable collects committed outputs of bag tasks that may not be on a disk yet. Syncing each
// output as its task ends would double the time of short tasks. The coordinator therefore asks for
// a sync before it records that the tasks have ended: about once a second, and less often if a sync
// takes long.
type Durable struct {
	syncFile func(path string) error // syncs a file or a folder
	syncDisk func(dir string) error  // syncs the file system that contains the folder

	syncing sync.Mutex // locked during Sync
	mu      sync.Mutex
	files   []string          // committed outputs, at most maxSingly
	more    bool              // there are outputs that are not in files
	disks   map[uint64]string // device number to a folder with an output on that device
	shared  map[string]bool   // files to which outputs of many tasks were appended
}

func NewDurable() *Durable {
	return &Durable{syncFile: disk.SyncPlain, syncDisk: disk.SyncFileSystem, disks: make(map[uint64]string), shared: make(map[string]bool)}
}

// Note adds a committed output.
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

// NoteShared adds a file to which an output was appended.
func (d *Durable) NoteShared(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shared[path] = true
}

// Sync returns when all outputs that were added before the call are on disk, including their names.
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
		if err := d.syncDisk(dir); !errors.Is(err, fs.ErrNotExist) { // the user removed the folder with its outputs
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// each syncs the files, and then the folders that contain their names.
func (d *Durable) each(files []string) error {
	dirs := make(map[string]bool)
	var errs []error
	for _, path := range files {
		dirs[filepath.Dir(path)] = true
		switch err := d.syncFile(path); {
		case errors.Is(err, fs.ErrNotExist): // the user removed it
		case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.ELOOP): // the user changed it, and does not depend on its sync
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
