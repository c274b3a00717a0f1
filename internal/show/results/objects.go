package results

import (
	"context"
	"io"
	"strings"

	"berth/internal/core/job"
	"berth/internal/mapreduce"
	"berth/internal/mapreduce/bucket"
)

// objectParts prints the parts of an output in S3, in order.
func objectParts(ctx context.Context, to io.Writer, m *job.MapReduceSpec) error {
	var parts []job.Range
	err := bucket.List(ctx, m.Output+"/", func(name string, size int64, tag string) {
		if part := strings.TrimPrefix(name, m.Output+"/"); mapreduce.IsPart(part) && !strings.Contains(part, "/") {
			parts = append(parts, job.Range{Path: name, Length: -1, Size: size, Tag: tag})
		}
	})
	if err != nil {
		return err
	}
	for _, r := range parts {
		f, err := bucket.Open(ctx, r, func(int64) {})
		if err != nil {
			return err
		}
		err = pass(to, io.NewSectionReader(f, 0, f.Size()), r.Path, nil)
		_ = f.Close() // the file was only read
		if err != nil {
			return err
		}
	}
	return nil
}
