package input

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand"
	"testing"
	"testing/synctest"

	"berth/internal/core/job"
)

// shortSource answers as a server that ends each answer at an offset, as if the file ended there.
type shortSource struct {
	data []byte
	end  int64
}

var errIncomplete = errors.New("it does not arrive completely")

func (s *shortSource) Request(_ context.Context, at, n int64) (io.ReadCloser, int64, error) {
	end := max(at, min(at+n, s.end))
	return io.NopCloser(bytes.NewReader(s.data[at:end])), int64(len(s.data)), nil
}
func (s *shortSource) Final(error) bool           { return false }
func (s *shortSource) Incomplete(err error) error { return errors.Join(errIncomplete, err) }

// TestAnswersThatEndEarly: an answer that ends at the end of a block, before that of the file, is no end of the file.
func TestAnswersThatEndEarly(t *testing.T) { synctest.Test(t, testAnswersThatEndEarly) }

func testAnswersThatEndEarly(t *testing.T) {
	plain := make([]byte, 3*BlockSize)
	rand.New(rand.NewSource(1)).Read(plain)
	for _, name := range []string{"f.txt", "f.zst", "f.gz", "f.bz2"} {
		data, length := plain, int64(len(plain))
		if c := codecOf(name); c != nil {
			var packed bytes.Buffer
			w, err := c.Writer(&packed)
			if err == nil {
				_, err = w.Write(plain)
			}
			if err != nil || w.Close() != nil {
				t.Fatal(name, err)
			}
			data, length = packed.Bytes(), -1
		}
		s := &shortSource{data, BlockSize}
		r := job.Range{Path: name, Length: length, Size: int64(len(data))}
		open := func(ctx context.Context, _ job.Split, _ int) (File, error) {
			return OpenRemote(ctx, s, r, func(int64) {})
		}
		in, err := OpenSplit(t.Context(), job.Split{Ranges: []job.Range{r}}, &job.MapReduceSpec{}, open, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := io.ReadAll(in); !errors.Is(err, errIncomplete) {
			t.Errorf("%s: a file that ends early is read with the error %v", name, err)
		}
		_ = in.Close() // it was only read
	}
}
