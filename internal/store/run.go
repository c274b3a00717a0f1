package store

import (
	"context"
	"database/sql"
	"errors"

	"berth/internal/job"
	"berth/internal/predict"
)

// Run is one run of a job, as it went into history.
type Run struct {
	ID       job.ID   `json:"id"`
	Name     string   `json:"name"`
	Kind     job.Kind `json:"kind"`
	App      string   `json:"app"`       // predict.Application
	Place    string   `json:"-"`         // predict.Place
	NodeType string   `json:"node_type"` // predict.NodeType
	State    string   `json:"state"`     // event.State

	Started job.Time `json:"started_ns"`
	Ended   job.Time `json:"ended_ns"`

	Tasks      int   `json:"tasks"` // bag tasks or maps
	Reduces    int   `json:"reduces"`
	InputBytes int64 `json:"input_bytes"`
	Nodes      int   `json:"nodes"`
	CPUs       int   `json:"cpus"` // a node

	Predicted *predict.Interval `json:"predicted"` // bounds of the run time; nil: there was no prediction
	Median    *float64          `json:"median_s"`  // the predicted run time that half of such runs keep to; nil: likewise
	Source    string            `json:"source"`    // of the prediction
	Actual    float64           `json:"actual_s"`  // seconds, from the first task's start to the job's end

	// What the plan predicted and what came of it, in seconds from submission (or the last
	// resume): the start, to the first attempt, and the turnaround, to the job's end. nil: not predicted; not known.
	WaitPredicted       *float64 `json:"wait_predicted_s"`
	Wait                *float64 `json:"wait_s"`
	TurnaroundPredicted *float64 `json:"turnaround_predicted_s"`
	Turnaround          *float64 `json:"turnaround_s"` // of a run that was done

	AskedNodes int     `json:"asked_nodes"` // by the plan it began with, in all its allocations
	AskedTime  float64 `json:"asked_s"`     // wall time of the longest of them, seconds; 0: unlimited
	Allocs     int     `json:"allocs"`      // allocations of a batch system that it had, or waited for
	Plans      int     `json:"plans"`       // that were made for it: 1 and those of what was left
}

// Keep is how many of the latest runs of an application on a type of node keep
// their measurements and make up its profile; of earlier ones only the run itself
// is kept. It is enough for steady quantiles, and few enough that a changed script
// or machine shows soon.
const Keep = 20

// SaveRun puts a run and what was measured in it into history; one with the same id
// is replaced, as a resumed job ends more than once.
func (s *Store) SaveRun(ctx context.Context, r Run, measures predict.Measures) error {
	if s == nil {
		return nil
	}
	err := inTx(ctx, s.db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE id = ?`, r.ID); err != nil {
			return err
		}
		if err := insertRun(ctx, tx, r); err != nil {
			return err
		}
		for _, part := range measures.Parts() {
			if err := insertMeasure(ctx, tx, r.ID, part, measures[part]); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `
			DELETE FROM measures WHERE run IN (
				SELECT id FROM runs WHERE app = ? AND node_type = ? AND EXISTS (SELECT 1 FROM measures WHERE run = id)
				ORDER BY ended_ns DESC, id DESC LIMIT -1 OFFSET ?)`, r.App, r.NodeType, Keep)
		return err
	})
	return s.wrap("cannot keep run "+string(r.ID)+" in history", err)
}

const runColumns = `id, name, kind, app, node_type, state, started_ns, ended_ns, tasks, reduces,
	input_bytes, nodes, cpus, low_s, up_s, source, actual_s, median_s, wait_pred_s, wait_s, turnaround_pred_s, turnaround_s,
	asked_nodes, asked_s, allocs, plans, place`

func insertRun(ctx context.Context, tx *sql.Tx, r Run) error {
	var low, up any
	if r.Predicted != nil {
		low, up = r.Predicted.Low, r.Predicted.Up
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO runs (`+runColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		r.ID, r.Name, r.Kind, r.App, r.NodeType, r.State, int64(r.Started), int64(r.Ended), r.Tasks, r.Reduces,
		r.InputBytes, r.Nodes, r.CPUs, low, up, r.Source, r.Actual, r.Median, r.WaitPredicted, r.Wait,
		r.TurnaroundPredicted, r.Turnaround, r.AskedNodes, r.AskedTime, r.Allocs, r.Plans, r.Place)
	return err
}

func (s *Store) selectRuns(ctx context.Context, where string, args ...any) (runs []Run, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+runColumns+` FROM runs `+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r Run
		var low, up sql.NullFloat64
		if err := rows.Scan(&r.ID, &r.Name, &r.Kind, &r.App, &r.NodeType, &r.State, &r.Started, &r.Ended, &r.Tasks, &r.Reduces,
			&r.InputBytes, &r.Nodes, &r.CPUs, &low, &up, &r.Source, &r.Actual, &r.Median, &r.WaitPredicted, &r.Wait,
			&r.TurnaroundPredicted, &r.Turnaround, &r.AskedNodes, &r.AskedTime, &r.Allocs, &r.Plans, &r.Place); err != nil {
			return nil, err
		}
		if low.Valid && up.Valid {
			r.Predicted = &predict.Interval{Low: low.Float64, Up: up.Float64}
		}
		runs = append(runs, r)
	}
	return runs, rows.Err()
}

// ForgetRun takes a run out of history. What was measured in it stays in its application's
// profile: while that needs the measurements the run's line stays too, without its name and
// without what would count in Accuracy.
func (s *Store) ForgetRun(ctx context.Context, id job.ID) error {
	if s == nil {
		return nil
	}
	err := inTx(ctx, s.db, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM measures WHERE run = ?1)`, id)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE runs SET name = '', low_s = NULL, up_s = NULL, median_s = NULL, wait_pred_s = NULL,
			turnaround_pred_s = NULL, wait_s = NULL, turnaround_s = NULL WHERE id = ?`, id)
		return err
	})
	return s.wrap("cannot take a run out of history", err)
}
