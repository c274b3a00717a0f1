package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/node/collect"
	"berth/internal/node/process"
	"berth/internal/sys/disk"
)

// The names of what a task prints, where files have names below the job's folder.
const (
	Stdout = "//stdout"
	Stderr = "//stderr"
)

var streamNames = [2]string{collect.Stdout: Stdout, collect.Stderr: Stderr}

// Site is what the attempts of a process share.
type Site struct {
	Captures *Captures // takes what tasks print if it is captured; nil: nothing is
	Parts    Parts
	Durable  *Durable
}

// Bag has the files of an attempt of a bag's task.
type Bag struct {
	Site
	Spec     *job.Spec
	Entry    job.Entry
	At       job.Attempt
	Live     string          // folder with the FIFOs of a command that reads the output of running tasks (BagSpec.Ungroup); empty: none
	Others   bool            // other attempts of the task may be at work, so that the next one does not remove what this one leaves if it is killed
	Captured bool            // what the task prints is captured, and not written beside its place
	Collect  *collect.Writer // collects what the task prints; nil: it is not collected

	mu     sync.Mutex // held while Prints are opened, read by ReadPrinted, and released
	Prints [2]*Output // by collect.Stream; nil: not open
	Folder *Folder    // the folder in which the task runs or its files arrive; nil: the job's folder
	left   []string   // files of Folder that Commit moves

	// Ranks is how many ranks of the task print, each to files of its own where a template names the rank; 0: the task is one process.
	Ranks int
	rank  int    // the rank whose files these are
	more  []*Bag // the files of the other ranks

	withheld map[string]bool // names of what other jobs claimed later, which Commit leaves beside its place
	beside   []string        // where that is
}

// Begin opens the files to which the task prints and makes the folder in which it runs.
func (b *Bag) Begin() (dir string, err error) {
	if err := b.Open(); err != nil {
		return "", err
	}
	patterns := b.Spec.Bag.OutputPatterns(b.Entry, b.At.Task)
	if len(patterns) == 0 {
		return b.Spec.Dir, nil
	}
	words := b.Spec.Bag.Named(b.Entry, b.At.Task)
	if err := b.makeFolder(func() (*Folder, error) { return fillFolder(b.Spec.Dir, patterns, words, b.At) }); err != nil {
		return "", err
	}
	return b.Folder.Dir, nil
}

// makeFolder makes the attempt's folder, which it notes first.
func (b *Bag) makeFolder(make func() (*Folder, error)) (err error) {
	if err := b.Parts.Note(b.At, "", folderName(b.Spec.Dir, b.At)); err != nil {
		return process.ScratchFailure(b.Parts.Root, err)
	}
	if b.Folder, err = make(); err != nil {
		b.Folder = nil
		b.Parts.Forget(b.At, "")
	}
	return err
}

// Open opens the files to which the task prints.
func (b *Bag) Open() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Live != "" && b.openLive() {
		return nil
	}
	if err := b.clash(); err != nil {
		return err
	}
	err := b.openRanks()
	for s := range b.Prints {
		if err == nil {
			err = b.open(collect.Stream(s))
		}
	}
	if err != nil {
		b.drop()
		b.release()
	}
	return err
}

// ReadPrinted reads what the task has printed to a stream so far, from an offset on. It may be called while the task
// runs. At the end of what was printed it returns fewer bytes and no error.
func (b *Bag) ReadPrinted(s collect.Stream, p []byte, at int64) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.Prints[s]
	if o == nil || o.File() == "" {
		return 0, nil
	}
	f, err := os.Open(o.File())
	if err == nil {
		defer f.Close() // only read
		n, err = f.ReadAt(p, at)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, fs.ErrNotExist) { // it does not exist any more once it is committed
		err = nil
	}
	return n, err
}

// clash returns an error if what the task prints goes to a file that it also leaves: one of the two would be lost.
func (b *Bag) clash() error {
	patterns := b.Spec.Bag.OutputPatterns(b.Entry, b.At.Task)
	if len(patterns) == 0 || b.Spec.Bag.Collect {
		return nil
	}
	for s := range b.Prints {
		name, err := filepath.Rel(b.Spec.Dir, b.path(collect.Stream(s)))
		if err == nil && slices.ContainsFunc(patterns, func(p string) bool { return match(p, name) }) {
			return process.Failed("what the task prints goes to %s, and so does a file that --outputs keeps; name another file with --stdout or --stderr", name)
		}
	}
	return nil
}

func (b *Bag) open(s collect.Stream) (err error) {
	path := b.path(s)
	if !b.Captured || isDevice(path) {
		if b.Others && !isDevice(path) {
			_ = b.Parts.Note(b.At, b.noteName(s), partName(path, b.At)) // without it the hidden file stays if the worker is killed
		}
		b.Prints[s], err = openOutput(path, b.At)
		if err == nil {
			usual := [...]string{job.DefaultStdout, job.DefaultStderr}[s]
			b.Prints[s].unlessEmpty = strings.HasSuffix(strings.Replace(b.template(s), ".{rank}.", ".", 1), "/"+usual)
		}
		return err
	}
	c, err := b.Captures.acquire()
	if err != nil {
		return process.ScratchFailure(b.Captures.Root, err)
	}
	b.Prints[s] = &Output{FD: c.fd, capture: c}
	return nil
}

func (b *Bag) template(s collect.Stream) string {
	return [...]string{b.Spec.Bag.Stdout, b.Spec.Bag.Stderr}[s]
}

// path returns the file for what the task prints to a stream.
func (b *Bag) path(s collect.Stream) string {
	path := b.Spec.Bag.OutputPath(b.ofRank(s), b.Spec.ID, b.Entry, b.At.Task, b.rank)
	if path == job.Discard || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(b.Spec.Dir, path)
}

// openLive opens the FIFOs of the command that submitted the job. It reports whether that command reads them.
func (b *Bag) openLive() bool {
	for s, name := range [...]string{collect.Stdout: job.LiveStdout, collect.Stderr: job.LiveStderr} {
		o, err := openReader(filepath.Join(b.Live, name))
		if err != nil {
			b.drop()
			b.Prints = [2]*Output{}
			return false
		}
		b.Prints[s] = o
	}
	return true
}

// End ends the writing of what the task prints, and returns its bytes.
func (b *Bag) End() (bytes int64, err error) {
	for _, o := range b.Prints {
		err = errors.Join(err, o.Close())
		bytes += o.Bytes
	}
	for _, m := range b.more {
		n, failed := m.End()
		bytes, err = bytes+n, errors.Join(err, failed)
	}
	return bytes, err
}

// Leave returns the files that the task left in its folder.
func (b *Bag) Leave() ([]disk.File, error) {
	if b.Folder == nil {
		return nil, nil
	}
	names, err := b.Folder.Left()
	left := make([]disk.File, len(names))
	for i, name := range names {
		left[i] = disk.File{Name: name, Path: filepath.Join(b.Folder.Dir, name)}
	}
	return left, err
}

// Receive opens a file for what arrives from another machine: what the task printed, or a file that it left, which
// becomes executable if run is set.
func (b *Bag) Receive(name string, run bool) (disk.Incoming, error) {
	for s, print := range streamNames {
		if name != print {
			continue
		}
		if path := b.path(collect.Stream(s)); isDevice(path) {
			return nil, process.Broken("the host sends what goes to the device %s, which is its own", path)
		}
		if err := b.open(collect.Stream(s)); err != nil {
			return nil, err
		}
		return b.Prints[s], nil
	}
	if err := b.arrives(name); err != nil {
		return nil, err
	}
	return b.Folder.receive(name, run)
}

// arrives notes the name of a file that arrives in the attempt's folder, which it makes for the first.
func (b *Bag) arrives(name string) error {
	if b.Folder == nil {
		if err := b.makeFolder(func() (*Folder, error) { return newFolder(b.Spec.Dir, b.At) }); err != nil {
			return err
		}
	}
	if !slices.Contains(b.left, name) {
		b.left = append(b.left, name)
	}
	return nil
}

// Prepare names the files of the task's folder that are to be committed. If that folder is not in the job's folder, they are copied into one that is.
func (b *Bag) Prepare(ctx context.Context, left []disk.File) error {
	if b.Folder != nil && b.Folder.isApart() {
		return b.bring(ctx, left)
	}
	for _, f := range left {
		b.left = append(b.left, f.Name)
	}
	return nil
}

// names returns the names of the files that Commit moves.
func (b *Bag) names() []string {
	names := slices.Clone(b.left)
	for s, o := range b.Prints {
		if o != nil && o.path != "" {
			names = append(names, streamNames[s])
		}
	}
	return names
}

// Claims returns the numbers of the files that Commit moves.
func (b *Bag) Claims() []uint64 {
	names := b.names()
	numbers := make([]uint64, len(names))
	for i, name := range names {
		numbers[i] = b.Number(name)
	}
	for _, m := range b.more {
		numbers = append(numbers, m.Claims()...)
	}
	return numbers
}

// Number returns the number that stands for the path of a file of the task.
func (b *Bag) Number(name string) uint64 {
	if s := slices.Index(streamNames[:], name); s >= 0 {
		return PathNumber(b.path(collect.Stream(s)))
	}
	return PathNumber(filepath.Join(b.Spec.Dir, name))
}

// Withhold has Commit leave files beside their places.
func (b *Bag) Withhold(except []int32) {
	names := b.names()
	for _, i := range except {
		if int(i) < len(names) {
			b.WithholdName(names[i])
		}
	}
	b.withholdMore(len(names), except)
}

// WithholdName has Commit leave a file beside its place.
func (b *Bag) WithholdName(name string) {
	if b.withheld == nil {
		b.withheld = make(map[string]bool)
	}
	b.withheld[name] = true
}

// Beside returns where the files are that were left beside their places.
func (b *Bag) Beside() []string {
	all := b.beside
	for _, m := range b.more {
		all = append(all, m.Beside()...)
	}
	return all
}

// Commit puts into place what the task left and what it printed. What it printed is put into place in any case, as it
// may say what is wrong.
func (b *Bag) Commit(ctx context.Context, lease time.Duration) error {
	var moved error
	for _, m := range b.more {
		moved = errors.Join(moved, m.Commit(ctx, lease))
	}
	if b.Folder != nil {
		moved = errors.Join(moved, b.commitFolder())
	}
	if b.Collect != nil {
		return errors.Join(moved, b.collect())
	}
	for _, s := range []collect.Stream{collect.Stderr, collect.Stdout} {
		switch o := b.Prints[s]; {
		case o == nil:
		case b.withheld[streamNames[s]]:
			b.forget(s)
			if o.keep() {
				b.beside = append(b.beside, o.part)
			}
		default:
			moved = errors.Join(moved, o.Commit())
			b.Durable.Note(o)
		}
	}
	return moved
}

// commitFolder puts into place what the task left in its folder.
func (b *Bag) commitFolder() error {
	var moves []string
	for _, name := range b.left {
		if !b.withheld[name] {
			moves = append(moves, name)
			continue
		}
		part, err := b.Folder.keep(name)
		if err != nil {
			return err
		}
		b.beside = append(b.beside, part)
	}
	return b.Folder.Commit(moves, b.Durable)
}

// collect adds what the task printed to the file of its job.
func (b *Bag) collect() error {
	var outputs [2]*io.SectionReader
	for s, o := range b.Prints {
		if o == nil || o.Bytes == 0 {
			continue
		}
		f, err := os.Open(o.File())
		if err != nil {
			return process.OutputError(o.path, err)
		}
		defer f.Close() // only read
		outputs[s] = io.NewSectionReader(f, 0, o.Bytes)
	}
	path, err := b.Collect.Add(b.At, outputs)
	if err != nil {
		return process.OutputError(path, err)
	}
	b.Durable.NoteShared(path)
	return nil
}

// Abort removes what is not in place.
func (b *Bag) Abort() {
	b.drop()
	b.Release()
}

func (b *Bag) drop() {
	for _, o := range b.Prints {
		if o != nil {
			o.Drop()
		}
	}
	for _, m := range b.more {
		m.drop()
	}
}

// Release releases what is no longer needed when the attempt is committed or aborted.
func (b *Bag) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.release()
}

func (b *Bag) release() {
	for s, o := range b.Prints {
		if o != nil && o.capture != nil {
			b.Captures.release(o.capture)
		}
		b.forget(collect.Stream(s))
	}
	b.Prints = [2]*Output{}
	for _, m := range b.more {
		m.release()
	}
	b.more = nil
	if b.Folder != nil {
		b.Folder.Drop()
		b.Parts.Forget(b.At, "")
		b.Folder = nil
	}
}

// forget removes the note for the file to which the task prints a stream.
func (b *Bag) forget(s collect.Stream) {
	if b.Others {
		b.Parts.Forget(b.At, b.noteName(s))
	}
}

// DropOthers removes the uncommitted files of the task's other attempts, up to the number last. These attempts have
// ended, or their output is no longer needed.
func (b *Bag) DropOthers(last int) {
	for r := 1; r < b.Ranks && b.apart(); r++ {
		b.bagOf(r).DropOthers(last)
	}
	other, folders := b.At, len(b.Spec.Bag.OutputPatterns(b.Entry, b.At.Task)) > 0
	for other.N = 1; other.N <= last; other.N++ {
		if other.N == b.At.N {
			continue
		}
		for s := range b.Prints { // usually none of these exists
			if path := b.path(collect.Stream(s)); !b.Captured && !isDevice(path) {
				_ = unix.Unlink(partName(path, other))
			}
		}
		if folders {
			_ = disk.RemoveTree(folderName(b.Spec.Dir, other))
		}
	}
}

// isDevice reports whether an output goes to a device, which is written to and never replaced.
func isDevice(path string) bool { return path == job.Discard || strings.HasPrefix(path, "/dev/") }
