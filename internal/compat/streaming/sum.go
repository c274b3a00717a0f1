package streaming

import (
	"crypto/sha256"
	"encoding/hex"
	"os"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
	"berth/internal/core/predict"
)

// maxSummed is the number of bytes of a file that identify it.
const maxSummed = 1 << 20

// numbers matches dates, times and ids of runs in generated scripts. The script that mrjob writes for each job
// contains the name of a lock file with the time of the job. They do not distinguish programs.
var numbers = pattern.Lazy(`[0-9]{6,}`)

// sumFiles sets the checksums of the shipped files that programs name.
func (b *builder) sumFiles() error {
	programs := []*job.Program{&b.mr.Mapper, b.mr.Combiner, b.mr.Reducer}
	for i := range b.mr.Files {
		f := &b.mr.Files[i]
		for _, p := range programs {
			if p == nil || f.Sum != "" || !predict.Mentions(p.Args, f.Name) {
				continue
			}
			var err error
			if f.Sum, err = sumOf(f.Path); err != nil {
				return job.ConfigError(f.Path, "cannot be read, so not be shipped", "make it readable").Because(err)
			}
		}
	}
	return nil
}

// sumOf returns the checksum of the beginning of a file, or "" for a folder.
func sumOf(path string) (string, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	head, err := readHead(path, maxSummed)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(numbers().ReplaceAll(head, []byte("0")))
	return hex.EncodeToString(sum[:8]), nil
}
