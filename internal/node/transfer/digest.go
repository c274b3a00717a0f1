package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// digests computes and caches the SHA-256 of files below a folder. A file is read again only if it has changed.
type digests struct {
	root *os.Root

	mu     sync.Mutex
	sums   map[version]string
	places map[string]place // by SHA-256: a file that has this content
}

// version identifies the state of a file: each change of the file changes it.
type version struct {
	dev, ino     uint64
	size         int64
	mtime, ctime unix.Timespec
}

// place is a file that had a content.
type place struct {
	name string
	version
}

func newDigests(root *os.Root) *digests {
	return &digests{root: root, sums: make(map[version]string), places: make(map[string]place)}
}

func versionOf(f *os.File) (version, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return version{uint64(st.Dev), st.Ino, st.Size, st.Mtim, st.Ctim}, err
}

// name sets the Sum of a file.
func (d *digests) name(i *Item) (err error) {
	i.Sum, err = d.of(i.Path)
	return err
}

// of returns the SHA-256 of a file's content, in hexadecimal.
func (d *digests) of(name string) (string, error) {
	f, err := d.root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() // only read
	v, err := versionOf(f)
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	sum, known := d.sums[v]
	if known {
		d.places[sum] = place{name, v}
	}
	d.mu.Unlock()
	if known {
		return sum, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	if after, err := versionOf(f); err != nil || after != v {
		return "", fmt.Errorf("it changes while it is read")
	}
	sum = hex.EncodeToString(h.Sum(nil))
	d.mu.Lock()
	d.sums[v], d.places[sum] = sum, place{name, v}
	d.mu.Unlock()
	return sum, nil
}

// open opens a file with the content of this SHA-256. It returns an error if no task was told to need the content.
func (d *digests) open(sum string) (*os.File, fs.FileInfo, error) {
	d.mu.Lock()
	p, known := d.places[sum]
	d.mu.Unlock()
	if !known {
		return nil, nil, lost("no task was said to need the content %.12s…", sum)
	}
	f, err := d.root.Open(p.name)
	if err != nil {
		return nil, nil, lost("%s was removed: %v", p.name, err)
	}
	st, err := f.Stat()
	v, verr := versionOf(f)
	if err != nil || verr != nil || v != p.version {
		_ = f.Close()
		return nil, nil, lost("%s was changed", p.name)
	}
	return f, st, nil
}
