package archive

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Check reads the beginning of an archive and returns why it cannot be unpacked, nil where
// nothing shows against it.
func Check(archive string) error {
	err := Walk(archive, func(string, io.Reader) bool { return false })
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is cut off, or no archive")
	}
	return err
}

// Walk calls fn for the regular files of an archive, until that returns false. What was
// not read of a file is passed over.
func Walk(archive string, fn func(name string, in io.Reader) bool) error {
	if isZip(archive) {
		return WalkZip(archive, fn)
	}
	return withTar(archive, func(in io.Reader) error {
		for tr := tar.NewReader(in); ; {
			h, err := tr.Next()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			if h.Typeflag == tar.TypeReg && !fn(h.Name, tr) {
				return nil
			}
		}
	})
}

// WalkZip is Walk for a zip file of any name.
func WalkZip(archive string, fn func(name string, in io.Reader) bool) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }() // was read only
	for _, f := range z.File {
		if !f.Mode().IsRegular() {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return err
		}
		more := fn(f.Name, in)
		_ = in.Close() // was read only
		if !more {
			return nil
		}
	}
	return nil
}

func isZip(archive string) bool {
	name := strings.ToLower(archive)
	return strings.HasSuffix(name, ".zip") || strings.HasSuffix(name, ".jar")
}

// withTar opens a tar file, unpacked, for fn.
func withTar(archive string, fn func(in io.Reader) error) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // was read only
	in, err := decompress(strings.ToLower(filepath.Base(archive)), bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return err
	}
	defer in.Close() // holds no more than memory
	return fn(in)
}

// decompress returns the tar stream in an archive of that name.
func decompress(name string, in io.Reader) (io.ReadCloser, error) {
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
		return nil, errors.New("it is none of .zip, .jar, .tar, .tar.gz, .tgz, .tar.bz2, .tar.zst")
	}
}
