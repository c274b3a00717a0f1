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

	"berth/internal/job"
)

// Codec is a format of compressed input or output files.
type Codec struct {
	Name   string // as in MapReduceSpec.Compress
	Suffix string // of files, by which input is recognised
	magic  string // that files begin with
	Class  string // of Java, as SequenceFiles name it
	reader func(io.Reader) (io.ReadCloser, error)
	Writer func(io.Writer) (io.WriteCloser, error)
}

// maxWindow is the largest zstd window that is read, what zstd itself takes unless told otherwise.
const maxWindow = 128 << 20

const codecPackage = "org.apache.hadoop.io.compress."

var codecs = []Codec{
	{"gzip", ".gz", "\x1f\x8b", codecPackage + "GzipCodec", newGzipReader, newGzipWriter},
	{"zstd", ".zst", "\x28\xb5\x2f\xfd", codecPackage + "ZStandardCodec", newZstdReader, newZstdWriter},
	{"bzip2", ".bz2", "BZh", codecPackage + "BZip2Codec", newBzip2Reader, newBzip2Writer},
	{"deflate", ".deflate", "\x78", codecPackage + "DefaultCodec", newZlibReader, newZlibWriter}, // Hadoop's DefaultCodec
	{"snappy", ".snappy", "", codecPackage + "SnappyCodec", newSnappyReader, newSnappyWriter},
}

// codecOf returns the codec of an input file by its name, in letters of either case, nil
// for a plain file.
func codecOf(path string) *Codec {
	for i, suffix := 0, strings.ToLower(filepath.Ext(path)); i < len(codecs); i++ {
		if codecs[i].Suffix == suffix {
			return &codecs[i]
		}
	}
	return nil
}

// foreignSuffixes end the names of compressed files and archives that berth does not
// unpack: those that Hadoop would, and the common ones that it would not either.
var foreignSuffixes = []string{".lz4", ".lzo", ".lzo_deflate", ".xz", ".lzma", ".z", ".br", ".zip", ".7z", ".tgz"}

// Suffixes names the endings of files that are unpacked, in words.
func Suffixes() string {
	var b strings.Builder
	for i := range codecs {
		switch {
		case i == len(codecs)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(codecs[i].Suffix)
	}
	return b.String()
}

// isForeign reports whether a file looks compressed in a way that is not unpacked.
func isForeign(path string) bool {
	return slices.Contains(foreignSuffixes, strings.ToLower(filepath.Ext(path)))
}

// CodecNamed returns the codec for output, nil for none.
func CodecNamed(name string) (*Codec, error) {
	if name == "" {
		return nil, nil
	}
	for i := range codecs {
		if codecs[i].Name == name {
			return &codecs[i], nil
		}
	}
	return nil, &job.Error{
		Class: job.User, Code: job.CodeConfig, Where: "mapreduce.output.fileoutputformat.compress.codec",
		What: fmt.Sprintf("%q is not known", name), Do: "use gzip, zstd, bzip2, deflate or snappy",
	}
}

func newGzipReader(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }

func newGzipWriter(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }

// zlibReader reads streams of zlib one behind the other, as Hadoop does.
type zlibReader struct {
	in *bufio.Reader // from which a stream takes no more than its own
	io.ReadCloser
}

// Reset makes the reader one of another stream.
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

// newZstdReader decodes in the caller's goroutine: tasks already use every core.
func newZstdReader(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return zstdReader{d}, nil
}

// zstdReader is a decoder that is closed as files are.
type zstdReader struct{ *zstd.Decoder }

// Close gives up the decoder.
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

// decoder reads the lines' bytes of a compressed file and tells damage by the file's name.
type decoder struct {
	path   string
	codec  *Codec
	begins bool // with the codec's magic
	stream io.ReadCloser
}

// newDecoder begins to read a compressed file through file, which is buffered.
func newDecoder(path string, c *Codec, file *bufio.Reader) (*decoder, error) {
	head, _ := file.Peek(len(c.magic)) // an error comes again with the first read
	d := &decoder{path: path, codec: c, begins: string(head) == c.magic}
	stream, err := c.reader(file)
	if err != nil {
		return nil, d.failed(err)
	}
	d.stream = stream
	return d, nil
}

// Read returns io.EOF at the proper end of the compressed data only.
func (d *decoder) Read(p []byte) (int, error) {
	n, err := d.stream.Read(p)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return n, d.failed(err)
	}
	return n, err
}

func (d *decoder) Close() error { return d.stream.Close() }

// failed tells what is wrong with the file. An error of the disk beneath is passed on.
func (d *decoder) failed(err error) error {
	var below *job.Error
	if errors.As(err, &below) {
		return err
	}
	what := "is damaged or no " + d.codec.Name + " file"
	if d.begins && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) {
		what = "is cut off"
	}
	return &job.Error{
		Class: job.User, Code: job.CodeIO, Where: d.path, What: what, Err: err,
		Do: "write the file anew, or leave it out of the input",
	}
}
