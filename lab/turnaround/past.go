package main

import (
	"log/slog"
	"os/user"
	"time"

	batchsystem "berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/driver/batch"
	"berth/internal/server/queuelog"
)

// remember writes to the state folder what a coordinator would have seen of the hour before: when jobs of others ended, and how long
// they had run. They never ran on this cluster.
func (p *site) remember(past []fill) error {
	if len(past) == 0 {
		return nil
	}
	conf, err := p.settings()
	if err != nil {
		return err
	}
	me, err := user.Current() // all jobs of a private cluster are this user's
	if err != nil {
		return err
	}
	now := job.Time(time.Now().UnixNano())
	h := starts.History{}
	for i, f := range past {
		of := starts.Job{User: batchsystem.Number(me.Username), Nodes: int32(f.nodes), Limit: f.limit}
		at := now.Add(-time.Hour + time.Duration(i)*time.Hour/time.Duration(len(past)))
		h.Ended = append(h.Ended, starts.Ended{Job: of, At: at, Run: f.real})
	}
	log := queuelog.New(struct{ Dir string }{p.state + "/berth"}, slog.Default())
	snap := &batchsystem.Snapshot{Driver: p.name, At: now, Queue: &batchsystem.Queue{Cluster: conf["ClusterName"],
		ID: batch.ClusterID(conf["ClusterName"], conf["SlurmctldHost[0]"], conf["SlurmctldPort"])}}
	log.Observe(snap)
	log.Add(snap, &h)
	log.Close()
	return nil
}
