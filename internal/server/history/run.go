package history

import (
	"context"
	"database/sql"
	"strings"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// Run is one run of a job in the history.
type Run struct {
	ID        job.ID      `json:"id"` // with a blank and App behind it for an application that its tasks name beside that of the job
	Name      string      `json:"name"`
	Kind      job.Kind    `json:"kind"`
	App       string      `json:"app"`       // predict.Application
	AppByPath string      `json:"-"`         // predict.ApplicationByPath
	NodeType  string      `json:"node_type"` // predict.NodeType
	State     event.State `json:"state"`

	Started job.Time `json:"started_ns"`
	Ended   job.Time `json:"ended_ns"`

	Tasks      int   `json:"tasks"` // bag tasks or maps
	Reduces    int   `json:"reduces"`
	InputBytes int64 `json:"input_bytes"`
	Nodes      int   `json:"nodes"`
	CPUs       int   `json:"cpus"` // cores for each node

	Predicted *predict.Interval `json:"predicted"` // bounds of the run time in seconds; nil: there was no prediction
	Median    *float64          `json:"median_s"`  // predicted median of the run time; nil: there was no prediction
	Source    string            `json:"source"`    // what the prediction was made from
	Actual    float64           `json:"actual_s"`  // seconds, from the first task's start to the job's end

	// Predicted and actual times in seconds since the submission or the last resume: the wait until the
	// first attempt, and the turnaround until the end of the job. They are nil if not predicted or not known.
	WaitPredicted       *float64 `json:"wait_predicted_s"`
	WaitLow             *float64 `json:"wait_low_s,omitempty"` // and WaitHigh: the band of a start that the history of the queue predicted; nil: limits did
	WaitHigh            *float64 `json:"wait_high_s,omitempty"`
	Wait                *float64 `json:"wait_s"`
	TurnaroundPredicted *float64 `json:"turnaround_predicted_s"`
	Turnaround          *float64 `json:"turnaround_s"` // nil unless the run is done

	CostPredicted *float64 `json:"cost_predicted,omitempty"` // of the machines that were rented for it; nil: not predicted, or none were
	Cost          *float64 `json:"cost,omitempty"`

	Ends   predict.Ends   `json:"-"` // errors of the ends that were expected of running tasks
	Spells predict.Spells `json:"-"` // how often nodes were slow

	AskedNodes int     `json:"asked_nodes"` // nodes that its first plan requested, over all requests
	AskedTime  float64 `json:"asked_s"`     // longest wall time that its first plan requested, seconds; 0: unlimited
	Allocs     int     `json:"allocs"`      // allocations of a batch system that it had or waited for
	Plans      int     `json:"plans"`       // plans that were made for it: the first and those for the remaining tasks
}

// Keep is the number of runs of an application on a type of node whose measurements are
// stored and make up its profile. Of earlier runs only the row in the history stays. Twenty
// are enough for stable quantiles, and few enough that the profile soon shows that a script
// or a machine has changed.
const Keep = 20

// Measured is a run with what was measured in it.
type Measured struct {
	Run
	Measures predict.Measures
}

// Save adds runs and their measurements to the history. Runs with the same ids are replaced,
// as a resumed job ends more than once. Whoever reads the history after Save has returned
// waits for commit, which brings the runs to the disk.
func (s *Store) Save(ctx context.Context, runs ...Measured) (commit func() error, err error) {
	if s == nil {
		return func() error { return nil }, nil
	}
	const what = "cannot save a run in the history"
	tx, err := begun(ctx, s.db, func(tx *sql.Tx) error {
		for _, r := range runs {
			if err := replace(ctx, tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.wrap(what, err)
	}
	return func() error { return s.wrap(what, tx.Commit()) }, nil
}

// replace puts a run in the place of one with the same id, and drops what is beyond Keep.
func replace(ctx context.Context, tx *sql.Tx, r Measured) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE id = ?`, r.ID); err != nil {
		return err
	}
	var low, up *float64
	if r.Predicted != nil {
		low, up = &r.Predicted.Low, &r.Predicted.Up
	}
	if err := insert(ctx, tx, "runs", runColumns, r.fields(&low, &up)); err != nil {
		return err
	}
	for _, part := range r.Measures.Parts() {
		m := *r.Measures[part]
		m.Curves, m.Memory = m.FewCurves(), m.LastMemory()
		if err := insert(ctx, tx, "measures", `run, part, `+measureColumns, append([]any{r.ID, part}, fields(&m)...)); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `
		DELETE FROM measures WHERE run IN (
			SELECT id FROM runs WHERE app = ? AND node_type = ? AND EXISTS (SELECT 1 FROM measures WHERE run = id)
			ORDER BY ended_ns DESC, id DESC LIMIT -1 OFFSET ?)`, r.App, r.NodeType, Keep)
	return err
}

const runColumns = `id, name, kind, app, node_type, state, started_ns, ended_ns, tasks, reduces,
	input_bytes, nodes, cpus, low_s, up_s, source, actual_s, median_s, wait_pred_s, wait_s, turnaround_pred_s, turnaround_s,
	asked_nodes, asked_s, allocs, plans, place, wait_low_s, wait_high_s, cost_pred, cost, ends, spells`

// fields returns pointers to what runColumns have of a run, both to write and to read. low and up are the bounds in Predicted.
func (r *Run) fields(low, up **float64) []any {
	return []any{
		&r.ID, &r.Name, &r.Kind, &r.App, &r.NodeType, &r.State, &r.Started, &r.Ended, &r.Tasks, &r.Reduces,
		&r.InputBytes, &r.Nodes, &r.CPUs, low, up, &r.Source, &r.Actual, &r.Median, &r.WaitPredicted, &r.Wait, &r.TurnaroundPredicted, &r.Turnaround,
		&r.AskedNodes, &r.AskedTime, &r.Allocs, &r.Plans, &r.AppByPath, &r.WaitLow, &r.WaitHigh, &r.CostPredicted, &r.Cost, &packed{&r.Ends}, &packed{&r.Spells},
	}
}

// insert adds a row to a table.
func insert(ctx context.Context, tx *sql.Tx, table, columns string, fields []any) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO `+table+` (`+columns+`) VALUES (?`+strings.Repeat(",?", len(fields)-1)+`)`, fields...)
	return err
}

func (s *Store) selectRuns(ctx context.Context, where string, args ...any) (runs []Run, err error) {
	err = s.query(ctx, `SELECT `+runColumns+` FROM runs `+where, args, func(rows *sql.Rows) error {
		var r Run
		var low, up *float64
		err := rows.Scan(r.fields(&low, &up)...)
		if low != nil && up != nil {
			r.Predicted = &predict.Interval{Low: *low, Up: *up}
		}
		runs = append(runs, r)
		return err
	})
	return runs, err
}

// ForgetRun removes a run from the history. Its measurements stay in the profile of its
// application. As long as they do, the row of the run stays too, without its name and
// without the times that would count in Accuracy. Rows of applications that its tasks named are those of the run, too.
func (s *Store) ForgetRun(ctx context.Context, id job.ID) error {
	if s == nil {
		return nil
	}
	err := inTx(ctx, s.db, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE (id = ?1 OR substr(id, 1, length(?1) + 1) = ?1 || ' ')
			AND NOT EXISTS (SELECT 1 FROM measures WHERE run = id)`, id)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE runs SET name = '', low_s = NULL, up_s = NULL, median_s = NULL, wait_pred_s = NULL,
			wait_low_s = NULL, wait_high_s = NULL, turnaround_pred_s = NULL, wait_s = NULL, turnaround_s = NULL, ends = NULL, spells = NULL WHERE id = ?1 OR substr(id, 1, length(?1) + 1) = ?1 || ' '`, id)
		return err
	})
	return s.wrap("cannot remove a run from the history", err)
}
