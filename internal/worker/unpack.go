package worker

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// unpack unpacks an archive into a folder: .zip and .jar, or .tar plain or
// compressed, told by its name as Hadoop does. Nothing is written outside of the
// folder, whatever names and links the archive holds (os.Root).
func unpack(archive, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // its files are closed one by one
	name := strings.ToLower(filepath.Base(archive))
	if strings.HasSuffix(name, ".zip") || strings.HasSuffix(name, ".jar") {
		return unpackZip(archive, root)
	}
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // was read only
	in, err := decompress(name, bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return err
	}
	return unpackTar(in, root)
}

// decompress returns the tar stream in an archive of that name.
func decompress(name string, in io.Reader) (io.Reader, error) {
	has := func(suffixes ...string) bool {
		for _, s := range suffixes {
			if strings.HasSuffix(name, s) {
				return true
			}
		}
		return false
	}
	switch {
	case has(".tar"):
		return in, nil
	case has(".tar.gz", ".tgz"):
		return gzip.NewReader(in)
	case has(".tar.bz2", ".tbz2", ".tbz"):
		return bzip2.NewReader(in), nil
	case has(".tar.zst", ".tzst"):
		d, err := zstd.NewReader(in)
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	default:
		return nil, errors.New("it is none of .zip, .jar, .tar, .tar.gz, .tgz, .tar.bz2, .tar.zst")
	}
}

func unpackTar(in io.Reader, root *os.Root) error {
	for tr := tar.NewReader(in); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		name, ok := member(h.Name)
		if !ok {
			continue // the folder itself
		}
		mode := fs.FileMode(h.Mode).Perm()
		switch h.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, mode|0o700)
		case tar.TypeReg:
			err = writeMember(root, name, mode, tr)
		case tar.TypeSymlink:
			err = placeMember(root, name, func() error { return root.Symlink(h.Linkname, name) })
		case tar.TypeLink:
			target, _ := member(h.Linkname)
			err = placeMember(root, name, func() error { return root.Link(target, name) })
		case tar.TypeXGlobalHeader:
		default:
			err = fmt.Errorf("kind %q of member is not supported", h.Typeflag)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}

func unpackZip(archive string, root *os.Root) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }() // was read only
	for _, f := range z.File {
		if err := unzipMember(f, root); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

func unzipMember(f *zip.File, root *os.Root) error {
	name, ok := member(f.Name)
	if !ok {
		return nil
	}
	if strings.HasSuffix(f.Name, "/") {
		return root.MkdirAll(name, 0o700)
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // its checksum was told by the last read
	switch mode := f.Mode(); {
	case mode&fs.ModeSymlink != 0:
		target, err := io.ReadAll(io.LimitReader(r, 4096)) // PATH_MAX
		if err != nil {
			return err
		}
		return placeMember(root, name, func() error { return root.Symlink(string(target), name) })
	case mode.IsRegular():
		return writeMember(root, name, mode.Perm(), r)
	default:
		return fmt.Errorf("kind %v of member is not supported", mode.Type())
	}
}

// member returns the name below the folder that a member of an archive gets;
// false for the folder itself. os.Root refuses names that lead out of it.
func member(name string) (string, bool) {
	name = path.Clean(strings.TrimPrefix(name, "/"))
	return name, name != "."
}

// placeMember makes a member over one of the same name, and the folders above it.
func placeMember(root *os.Root, name string, place func() error) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	err := place()
	if errors.Is(err, fs.ErrExist) {
		if err := root.Remove(name); err != nil {
			return err
		}
		return place()
	}
	return err
}

func writeMember(root *os.Root, name string, mode fs.FileMode, in io.Reader) error {
	return placeMember(root, name, func() error {
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode|0o400)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, in)
		return errors.Join(err, f.Close())
	})
}
