package history

import (
	"context"
	"database/sql"
	"fmt"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

const measureColumns = `samples, sum_s, sum_sq_s, min_s, max_s, bytes_in, bytes_out, records_in, records_out,
	cpu_s, mem_sum, mem_max, in_sq, in_time, histogram, use, curves, memory`

// fields returns pointers to what measureColumns have of a measure, both to write and to read.
func fields(m *predict.Measure) []any {
	t := &m.Time
	return []any{
		&t.Count, &t.Sum, &t.SumSq, &t.Min, &t.Max, &m.BytesIn, &m.BytesOut, &m.RecordsIn, &m.RecordsOut,
		&m.CPU, &m.MemorySum, &m.MemoryMax, &m.InSq, &m.InTime, &packed{&t.Histogram}, &packed{&m.Use}, &packed{&m.Curves}, &packed{&m.Memory},
	}
}

// Profile returns the profile of an application on a type of node, or else on the one on which its latest measured
// run was (Profile.NodeType), made of its latest runs there; nil if no run was measured. Runs that failed or were
// cancelled count too, as the tasks that they finished were measured.
func (s *Store) Profile(ctx context.Context, app, nodeType string) (p *predict.Profile, err error) {
	on, err := s.latest(ctx, "node_type", "app", app, nodeType)
	if err == nil {
		p, err = s.profile(ctx, app, on)
	}
	return p, s.wrap("cannot read the profile of "+predict.Label(app), err)
}

// latest returns a column of the latest measured run whose column where has that value, or the empty text if no run was measured. Runs on
// a type of node come before all others.
func (s *Store) latest(ctx context.Context, column, where, value, nodeType string) (found string, err error) {
	err = s.query(ctx, `
		SELECT `+column+` FROM runs
		WHERE `+where+` = ? AND EXISTS (SELECT 1 FROM measures WHERE run = id)
		ORDER BY node_type = ? DESC, ended_ns DESC, id DESC LIMIT 1`, []any{value, nodeType}, func(row *sql.Rows) error { return row.Scan(&found) })
	return found, err
}

// LastAt returns the application of the latest measured run of the programs at some paths
// (predict.ApplicationByPath), or the empty string if no run was measured. Runs of earlier versions of
// berth have the paths as their application.
func (s *Store) LastAt(ctx context.Context, place string) (app string, err error) {
	app, err = s.latest(ctx, "app", "place", place, "")
	return app, s.wrap("cannot look for the profile of "+predict.Label(place), err)
}

func (s *Store) profile(ctx context.Context, app, nodeType string) (*predict.Profile, error) {
	p := &predict.Profile{App: app, NodeType: nodeType}
	var open run
	err := s.query(ctx, `
		SELECT runs.id, kind, ended_ns, input_bytes, tasks, reduces, part, `+measureColumns+`
		FROM runs JOIN measures ON run = runs.id
		WHERE app = ? AND node_type = ?
		ORDER BY ended_ns, runs.id`, []any{app, nodeType}, func(rows *sql.Rows) error {
		next := run{measures: predict.Measures{}}
		var part predict.Part
		var m predict.Measure
		z := &next.size
		err := rows.Scan(append([]any{&next.id, &z.Kind, &next.ended, &z.InputBytes, &z.Tasks, &z.Reduces, &part}, fields(&m)...)...)
		if err == nil && !m.Time.Sound() {
			err = fmt.Errorf("%w: sums do not agree", ErrCorrupt)
		}
		if err != nil {
			return fmt.Errorf("run %s, %s: %w", next.id, part, err)
		}
		if next.id != open.id {
			open.addTo(p)
			open = next
		}
		open.measures[part] = &m
		return nil
	})
	if open.addTo(p); err != nil || p.Runs == 0 {
		return nil, err
	}
	return p, nil
}

// run is a run while its measures are being read.
type run struct {
	id       job.ID
	ended    job.Time
	size     predict.Size
	measures predict.Measures
}

func (r *run) addTo(p *predict.Profile) {
	if len(r.measures) > 0 {
		p.AddRun(r.size, r.ended, r.measures)
	}
}
