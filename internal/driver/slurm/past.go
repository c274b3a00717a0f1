package slurm

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/core/timeline"
)

// pastFields are the fields of sacct that Past asks for.
const pastFields = "JobID,User,Partition,NNodes,TimelimitRaw,Submit,End,ElapsedRaw"

// Past returns what accounting tells of the jobs since an instant: those that have run and ended, and those of others that have
// arrived. It is an error if there is no accounting.
func (s *System) Past(ctx context.Context, user string, from job.Time) (starts.History, error) {
	out, err := s.Output(ctx, strings.Fields("sacct --allusers --allocations --duplicates --noheader --parsable2 --format "+pastFields+
		" --starttime "+from.Std().Local().Format("2006-01-02T15:04:05"))...)
	if err != nil {
		return starts.History{}, err
	}
	return parsePast(barred(out, 8), user, from), nil
}

// pastCommand prints what readPast reads.
const pastCommand = "sacct --allusers --allocations --duplicates --parsable2 --starttime now-7days --format " + pastFields

// readPast reads what sacct has printed of the jobs since an instant, as Past does: the first line names the columns, in any order
// and beside others. name is that of the text in errors. Times are in seconds since the epoch, or local.
func readPast(text, name, user string, from job.Time) (starts.History, error) {
	head, rest, _ := strings.Cut(text, "\n")
	columns, names := strings.Split(head, "|"), strings.Split(pastFields, ",")
	at := make([]int, len(names))
	for i, wanted := range names {
		if at[i] = slices.Index(columns, wanted); at[i] < 0 {
			return starts.History{}, job.ConfigError(name+":1", "there is no column "+wanted, "write the file with: "+pastCommand)
		}
	}
	rows := barred(rest, len(columns))
	for r, row := range rows {
		ordered := make([]string, len(at))
		for i, column := range at {
			ordered[i] = row[column]
		}
		rows[r] = ordered
	}
	return parsePast(rows, user, from), nil
}

// parsePast reads rows of sacct's output. Where they show no jobs of others, accounting may hide them, and arrivals are not known.
func parsePast(rows [][]string, user string, from job.Time) starts.History {
	h := starts.History{Since: from}
	for _, f := range rows {
		nodes, err := strconv.Atoi(f[3])
		submit, known := epoch(f[5])
		if err != nil || nodes < 1 || !known {
			continue
		}
		j := starts.Job{User: cluster.Number(f[1]), Nodes: int32(min(nodes, 1<<30)), Limit: timeline.Unbounded}
		if minutes, err := strconv.Atoi(f[4]); err == nil && minutes > 0 && minutes < 1e8 {
			j.Limit = time.Duration(minutes) * time.Minute
		}
		if f[1] != user && submit >= from {
			h.Arrived = append(h.Arrived, starts.Arrived{Job: j, At: submit, Part: cluster.Number(f[2])})
		}
		end, ended := epoch(f[6])
		if run, err := strconv.Atoi(f[7]); err == nil && ended && run > 0 && run < 1e9 {
			h.Ended = append(h.Ended, starts.Ended{Job: j, At: end, Run: time.Duration(run) * time.Second})
		}
	}
	slices.SortStableFunc(h.Ended, func(a, b starts.Ended) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(h.Arrived, func(a, b starts.Arrived) int { return cmp.Compare(a.At, b.At) })
	return h
}

// epoch reads seconds since the epoch, as sacct prints times for berth, or a local time, as it prints them for others; ok is false for
// "Unknown" and the like.
func epoch(text string) (at job.Time, ok bool) {
	if t, err := time.ParseInLocation("2006-01-02T15:04:05", text, time.Local); err == nil {
		text = strconv.FormatInt(t.Unix(), 10)
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return job.Time(seconds) * job.Time(time.Second), err == nil && seconds > 0 && seconds < 1<<33
}
