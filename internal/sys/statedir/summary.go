package statedir

import (
	"errors"
	"os"
	"path/filepath"

	"berth/internal/sys/disk"
)

const summaryName = "summary.json"

// The access rights of a summary are the mark of a run that is archived: the owner may write such a summary, as those of earlier versions.
const (
	ofArchived   = 0o600
	ofUnarchived = 0o400
)

// Summary returns the path of the run's last view as JSON. It is there once those who watch the run are told that it is over.
func (r Run) Summary() string { return filepath.Join(r.Dir, summaryName) }

// WriteSummary writes the summary of a run that is over and not archived yet. Whoever opens it finds it whole, but after a loss of power it
// may be damaged or missing: a coordinator that starts writes it again, as it does with all that MarkArchived has not marked.
func (r Run) WriteSummary(v any) error {
	b, err := EncodeJSON(r.Summary(), v)
	if err != nil {
		return err
	}
	part := r.Summary() + ".part"
	_ = os.Remove(part) // a coordinator may have died with it
	if err = os.WriteFile(part, b, ofUnarchived); err == nil {
		err = os.Rename(part, r.Summary())
	}
	if err != nil {
		return WriteError(r.Summary(), errors.Join(err, os.RemoveAll(part)))
	}
	return nil
}

// MarkArchived brings the summary of a run to the disk and marks it: nothing that stays of the run is to be written any more.
func (r Run) MarkArchived() error {
	err := disk.Sync(r.Summary())
	if err == nil {
		err = os.Chmod(r.Summary(), ofArchived)
	}
	return WriteError(r.Summary(), err)
}
