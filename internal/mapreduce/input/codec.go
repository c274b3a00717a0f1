package input

import (
	"bufio"
	stdbzip2 "compress/bzip2"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"berth/internal/core/job"
)

// Codec is a format of compressed input or output files.
type Codec struct {
	Name   string // as in MapReduceSpec.Compress
	Suffix string // of file names, by which input is recognised
	magic  string // at the begin of files
	Class  string // Java class, for SequenceFiles
	reader func(io.Reader) (io.ReadCloser, error)
	Writer func(io.Writer) (io.WriteCloser, error)
}

// maxWindow is the largest window of a zstd file that is read, in bytes. It is the default limit of zstd.
const maxWindow = 128 << 20

const codecPackage = "org.apache.hadoop.io.compress."

var codecs = []Codec{
	{"gzip", ".gz", "\x1f\x8b", codecPackage + "GzipCodec", newGzipReader, newGzipWriter},
	{"zstd", ".zst", "\x28\xb5\x2f\xfd", codecPackage + "ZStandardCodec", newZstdReader, newZstdWriter},
	{"bzip2", ".bz2", "BZh", codecPackage + "BZip2Codec", newBzip2Reader, newBzip2Writer},
	{"deflate", ".deflate", "\x78", codecPackage + "DefaultCodec", newZlibReader, newZlibWriter}, // Hadoop's DefaultCodec
	{"snappy", ".snappy", "", codecPackage + "SnappyCodec", newSnappyReader, newSnappyWriter},
}

// codecOf returns the codec of an input file by its suffix in either case, or nil for a plain file.
func codecOf(path string) *Codec {
	suffix := strings.ToLower(filepath.Ext(path))
	return findCodec(func(c *Codec) bool { return c.Suffix == suffix })
}

// findCodec returns the codec for which is returns true, or nil.
func findCodec(is func(*Codec) bool) *Codec {
	for i := range codecs {
		if is(&codecs[i]) {
			return &codecs[i]
		}
	}
	return nil
}

// foreignSuffixes are the suffixes of compressed files and archives that berth cannot read: those that
// Hadoop can read, and common ones that Hadoop cannot read either.
var foreignSuffixes = []string{".lz4", ".lzo", ".lzo_deflate", ".xz", ".lzma", ".z", ".br", ".zip", ".7z", ".tgz"}

// Suffixes returns the suffixes of the files that can be read, as a list in words.
func Suffixes() string {
	var suffixes []string
	for _, c := range codecs {
		suffixes = append(suffixes, c.Suffix)
	}
	last := len(suffixes) - 1
	return strings.Join(suffixes[:last], ", ") + " and " + suffixes[last]
}

// isForeign reports whether a file looks compressed in a way that berth cannot read.
func isForeign(path string) bool {
	return slices.Contains(foreignSuffixes, strings.ToLower(filepath.Ext(path)))
}

// CodecNamed returns the codec for output, or nil for the empty name.
func CodecNamed(name string) (*Codec, error) {
	if name == "" {
		return nil, nil
	}
	if c := findCodec(func(c *Codec) bool { return c.Name == name }); c != nil {
		return c, nil
	}
	return nil, job.ConfigError("mapreduce.output.fileoutputformat.compress.codec", fmt.Sprintf("the codec %q does not exist", name), "use gzip, zstd, bzip2, deflate or snappy")
}

func newGzipReader(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }

func newGzipWriter(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }

// zlibReader reads several zlib streams one after the other, as Hadoop does.
type zlibReader struct {
	in *bufio.Reader // a stream reads no further than its own end
	io.ReadCloser
}

// Reset begins another stream.
func (z *zlibReader) Reset(r io.Reader) error {
	z.in.Reset(r)
	return z.ReadCloser.(zlib.Resetter).Reset(z.in, nil)
}

func newZlibReader(r io.Reader) (io.ReadCloser, error) {
	in, ok := r.(*bufio.Reader)
	if !ok {
		in = bufio.NewReader(r)
	}
	z, err := zlib.NewReader(in)
	return &zlibReader{in, z}, err
}

func (z *zlibReader) Read(p []byte) (int, error) {
	n, err := z.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		if _, end := z.in.Peek(1); end != nil {
			return n, end
		}
		return n, z.ReadCloser.(zlib.Resetter).Reset(z.in, nil)
	}
	return n, err
}

func newZlibWriter(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }

// newZstdReader decodes in the goroutine of its caller, as the tasks already use all cores.
func newZstdReader(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return zstdReader{d}, nil
}

// zstdReader is a zstd decoder as an io.ReadCloser.
type zstdReader struct{ *zstd.Decoder }

// Close closes the decoder.
func (z zstdReader) Close() error {
	z.Decoder.Close()
	return nil
}

func newZstdWriter(w io.Writer) (io.WriteCloser, error) {
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
}

func newBzip2Reader(r io.Reader) (io.ReadCloser, error) {
	return io.NopCloser(stdbzip2.NewReader(r)), nil
}

func newBzip2Writer(w io.Writer) (io.WriteCloser, error) {
	return bzip2.NewWriter(w, &bzip2.WriterConfig{Level: bzip2.BestCompression})
}

// decoder reads a compressed file. Its errors name the file.
type decoder struct {
	path   string
	codec  *Codec
	begins bool // with the codec's magic
	stream io.ReadCloser
}

// newDecoder opens a compressed file. file is buffered.
func newDecoder(path string, file *bufio.Reader) (*decoder, error) {
	c := codecOf(path)
	if c == nil {
		return nil, fmt.Errorf("the split says that %s is compressed, but its suffix is not that of a codec", path)
	}
	head, _ := file.Peek(len(c.magic)) // the first read returns the error again
	d := &decoder{path: path, codec: c, begins: string(head) == c.magic}
	stream, err := c.reader(file)
	if err != nil {
		return nil, d.failed(err)
	}
	d.stream = stream
	return d, nil
}

// Read returns io.EOF only at the proper end of the compressed data.
func (d *decoder) Read(p []byte) (int, error) {
	n, err := d.stream.Read(p)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return n, d.failed(err)
	}
	return n, err
}

func (d *decoder) Close() error { return d.stream.Close() }

// failed returns the error for a file that cannot be uncompressed. It returns errors of the file system unchanged.
func (d *decoder) failed(err error) error {
	if errors.As(err, new(*job.Error)) {
		return err
	}
	what := "is damaged, or is not a " + d.codec.Name + " file"
	if d.begins && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) {
		what = "is cut off"
	}
	return job.IOError(job.User, d.path, what, err).Advice("write the file again, or leave it out of the input")
}
