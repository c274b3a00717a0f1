package statedir

import (
	"time"

	"golang.org/x/sys/unix"
)

// Ends returns, for each of these runs, when its summary was written, and so not before it ended. It is zero for a run that is not over or
// not archived. A summary that a crash has emptied is none.
//
// There may be thousands of runs, so the paths of their summaries are looked up from the folder of runs, which takes two thirds of the
// time of os.Stat.
func (h Home) Ends(runs []Run) []time.Time {
	ends := make([]time.Time, len(runs))
	dir, err := unix.Open(h.Runs(), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ends // there are no runs any more
	}
	defer func() { _ = unix.Close(dir) }()
	for i, r := range runs {
		var info unix.Stat_t
		name := string(r.ID) + "/" + summaryName
		for err = unix.EINTR; err == unix.EINTR; {
			err = unix.Fstatat(dir, name, &info, 0)
		}
		if err == nil && info.Mode&unix.S_IFMT == unix.S_IFREG && info.Mode&unix.S_IWUSR != 0 && info.Size > 0 {
			ends[i] = time.Unix(info.Mtim.Unix())
		}
	}
	return ends
}
