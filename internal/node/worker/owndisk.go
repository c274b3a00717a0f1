package worker

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/node/files"
	"berth/internal/node/process"
	"berth/internal/node/transfer"
	"berth/internal/sys/disk"
	"berth/internal/sys/private"
)

// ownDisk is a folder on this node's own disk, for tasks that run there although the node sees the folders of their jobs (BagSpec.Local). It is made
// when the first of them comes.
//
//	LOCAL/local/nodes/NODE/…  the folders of running tasks, in a scratch folder like any other: the next worker of the node removes what is left in it
//	LOCAL/local/files/…       the cache of their inputs, which all workers of the user on the machine share; the last one removes it
type ownDisk struct {
	cfg  Config // of the worker, but for Scratch, LOCAL/local/nodes, and Token
	host string

	mu      sync.Mutex
	scratch *scratch // nil: not made yet
	cache   *transfer.Cache
	dev     uint64
}

func newOwnDisk(cfg Config) *ownDisk {
	cfg.Scratch, cfg.Token = filepath.Join(cfg.Local, "local", "nodes"), ""
	host, _ := os.Hostname() // only errors name it
	d := &ownDisk{cfg: cfg, host: host}
	if exists(d.folder()) { // another worker is at work, or was killed
		if err := d.open(); err != nil {
			cfg.Log.Warn("what an earlier worker left on this node's disk may stay", "err", err)
		}
	}
	return d
}

func (d *ownDisk) folder() string { return filepath.Dir(d.cfg.Scratch) }
func (d *ownDisk) files() string  { return filepath.Join(d.folder(), "files") }

// open makes the folder unless that is done. Something may have removed it since, and another user may have made it.
func (d *ownDisk) open() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := cmp.Or(private.Folder(d.cfg.Local), private.Folder(d.folder()))
	if err == nil && d.scratch != nil {
		return nil
	}
	var st unix.Stat_t
	if err == nil {
		err = unix.Stat(d.folder(), &st)
	}
	if err == nil {
		d.cache, err = transfer.OpenCache(d.files(), d.host)
	}
	if err == nil {
		d.dev = st.Dev
		d.scratch, err = openScratch(d.cfg)
	}
	if err != nil && !errors.As(err, new(*process.Failure)) {
		err = process.DiskFailure("host %s: the folder %s for tasks on its own disk (--local) cannot be used: %v; name another one with --scratch", d.host, d.cfg.Local, err)
	}
	return err
}

// remove removes the folders of a job's tasks.
func (d *ownDisk) remove(id job.ID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.scratch == nil {
		return nil
	}
	return disk.RemoveTree(d.scratch.job(id))
}

// close ends the use of the folder. gone says that no worker will come after this one, so nothing of it is left, and nothing at all if it is the last
// on the machine.
func (d *ownDisk) close(gone bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.scratch == nil {
		return
	}
	if gone {
		err := d.scratch.remove()
		if os.Remove(d.cfg.Scratch) == nil { // it is empty
			err = errors.Join(err, d.removeFiles())
			_ = os.Remove(d.folder()) // fails if a worker has come
		}
		if err != nil {
			d.cfg.Log.Warn("the folder on this node's own disk stays", "dir", d.scratch.dir, "err", err)
		}
	}
	d.scratch.close()
}

// removeFiles removes the cache. It has another name before, so that a worker that comes meanwhile begins with an empty one.
func (d *ownDisk) removeFiles() error {
	old := d.files() + ".old" // may be left by a worker that was killed here
	if err := disk.RemoveTree(old); err != nil {
		return err
	}
	if err := os.Rename(d.files(), old); err != nil {
		return err
	}
	return disk.RemoveTree(old)
}

// inPlace returns why an attempt with --local runs in the job's folder nevertheless; "": it does not.
func (d *ownDisk) inPlace(a *attempt) (why string, err error) {
	if len(a.start.Gang) > 1 {
		return "its ranks are on several nodes", nil
	}
	var st unix.Stat_t
	if err := unix.Stat(a.spec.Dir, &st); err != nil { // a task without its inputs may do something else
		return "", process.Failed("the job's folder %s cannot be found: %v", a.spec.Dir, err)
	}
	if err := d.open(); err != nil {
		return "", err
	}
	if st.Dev == d.dev {
		why = fmt.Sprintf("%s of node %s is on the same file system as the job's folder (name a folder on the node's own disk with --scratch)", d.cfg.Local, d.host)
	}
	return why, nil
}

// localBag returns the files of an attempt of a job with --local.
func (w *worker) localBag(a *attempt, b *files.Bag) (bagFiles, error) {
	why, err := w.disk.inPlace(a)
	if err != nil {
		return b, err
	}
	if why != "" {
		a.work.told.Do(func() { a.warnings = append(a.warnings, "--local has no effect: "+why) })
		return b, nil
	}
	return &apartBag{place: b, bag: b, w: w, a: a, scratch: w.disk.scratch, cache: w.disk.cache, host: w.disk.host, source: &transfer.Near{Spec: a.spec, Entry: a.start.Entry, Disk: w.disk.dev}}, nil
}
