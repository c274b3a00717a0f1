package archive

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
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// member is one entry of an archive of either format.
type member struct {
	name string      // the name in the archive
	mode fs.FileMode // permissions and type; irregular: a hard link, or a type that is not supported
	kind string      // the archive's name of the type
	link string      // the target of a link in a tar file
	in   io.Reader   // the content; the target of a symbolic link in a zip file
}

// Check reads the beginning of an archive. It returns the reason why the archive cannot be
// unpacked, or nil if it finds none.
func Check(archive string) error {
	err := Walk(archive, func(string, io.Reader) bool { return false })
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is truncated, or not an archive")
	}
	return err
}

// Walk calls fn for the regular files of an archive until fn returns false. fn need not read
// in to its end.
func Walk(archive string, fn func(name string, in io.Reader) bool) error {
	return walk(archive, each, fn)
}

// WalkZip is Walk for a zip file of any name.
func WalkZip(archive string, fn func(name string, in io.Reader) bool) error {
	return walk(archive, eachOfZip, fn)
}

func walk(archive string, each func(string, func(member) error) error, fn func(name string, in io.Reader) bool) error {
	err := each(archive, func(m member) error {
		if m.mode.IsRegular() && !fn(m.name, m.in) {
			return fs.SkipAll
		}
		return nil
	})
	if err == fs.SkipAll {
		return nil
	}
	return err
}

// each calls fn for the members of an archive, in order, until fn returns an error.
func each(archive string, fn func(member) error) error {
	name := strings.ToLower(filepath.Base(archive))
	if strings.HasSuffix(name, ".zip") || strings.HasSuffix(name, ".jar") {
		return eachOfZip(archive, fn)
	}
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close() // was read only
	in, err := decompress(name, bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return err
	}
	defer in.Close() // frees only memory
	for tr := tar.NewReader(in); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil && h.Typeflag != tar.TypeXGlobalHeader {
			err = fn(memberOfTar(h, tr))
		}
		if err != nil {
			return err
		}
	}
}

func memberOfTar(h *tar.Header, in io.Reader) member {
	m := member{name: h.Name, mode: fs.FileMode(h.Mode).Perm(), kind: fmt.Sprintf("%q", h.Typeflag), in: in}
	switch h.Typeflag {
	case tar.TypeReg:
	case tar.TypeDir:
		m.mode |= fs.ModeDir
	case tar.TypeSymlink:
		m.mode |= fs.ModeSymlink
		m.link = h.Linkname
	case tar.TypeLink:
		m.mode |= fs.ModeIrregular
		m.link = h.Linkname
	default:
		m.mode |= fs.ModeIrregular
	}
	return m
}

func eachOfZip(archive string, fn func(member) error) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer z.Close() // was read only
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		err = fn(member{name: f.Name, mode: f.Mode(), kind: f.Mode().Type().String(), in: in})
		_ = in.Close() // the last read has reported a wrong checksum
		if err != nil {
			return err
		}
	}
	return nil
}

// decompress returns the tar stream in an archive, which it knows by the suffix of name.
func decompress(name string, in io.Reader) (io.ReadCloser, error) {
	has := func(suffixes ...string) bool {
		return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(name, s) })
	}
	switch {
	case has(".tar"):
		return io.NopCloser(in), nil
	case has(".tar.gz", ".tgz"):
		return gzip.NewReader(in)
	case has(".tar.bz2", ".tbz2", ".tbz"):
		return io.NopCloser(bzip2.NewReader(in)), nil
	case has(".tar.zst", ".tzst"):
		d, err := zstd.NewReader(in)
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	default:
		return nil, errors.New("its name does not end in .zip, .jar, .tar, .tar.gz, .tgz, .tar.bz2 or .tar.zst")
	}
}
