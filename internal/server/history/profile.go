package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

const measureColumns = `samples, sum_s, sum_sq_s, min_s, max_s, bytes_in, bytes_out, records_in, records_out,
	cpu_s, mem_sum, mem_max, in_sq, in_time, histogram, use, curves, memory`

func insertMeasure(ctx context.Context, tx *sql.Tx, run job.ID, part predict.Part, m *predict.Measure) error {
	histogram, err := m.Time.Histogram.MarshalBinary()
	if err != nil {
		return err
	}
	var use any // NULL where nothing was measured
	if !m.Use.Empty() {
		if use, err = m.Use.MarshalBinary(); err != nil {
			return err
		}
	}
	var curves any // NULL where no progress was measured
	if few := m.FewCurves(); len(few) > 0 {
		if curves, err = json.Marshal(few); err != nil {
			return err
		}
	}
	var memory any // NULL where none was measured
	if last := m.LastMemory(); len(last) > 0 {
		memory = predict.MarshalMemory(last)
	}
	t := &m.Time
	_, err = tx.ExecContext(ctx, `INSERT INTO measures (run, part, `+measureColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		run, part, t.Count, t.Sum, t.SumSq, t.Min, t.Max, m.BytesIn, m.BytesOut, m.RecordsIn, m.RecordsOut,
		m.CPU, m.MemorySum, m.MemoryMax, m.InSq, m.InTime, histogram, use, curves, memory)
	return err
}

// Profile returns the profile of an application on a type of node, made of its latest runs,
// or nil if no run was measured. Runs that failed or were cancelled count too, as the tasks
// that they finished were measured.
func (s *Store) Profile(ctx context.Context, app, nodeType string) (*predict.Profile, error) {
	if s == nil {
		return nil, nil
	}
	p, err := s.profile(ctx, app, nodeType)
	return p, s.wrap("cannot read the profile of "+predict.Label(app), err)
}

// ProfileAny returns the profile of an application on the type of node on which its latest
// measured run was, or nil if no run was measured. A plan for nodes of another type tells the
// user Profile.NodeType.
func (s *Store) ProfileAny(ctx context.Context, app string) (*predict.Profile, error) {
	if s == nil {
		return nil, nil
	}
	what := "cannot read the profile of " + predict.Label(app)
	var nodeType string
	err := s.db.QueryRowContext(ctx, `
		SELECT node_type FROM runs
		WHERE app = ? AND EXISTS (SELECT 1 FROM measures WHERE run = id)
		ORDER BY ended_ns DESC, id DESC LIMIT 1`, app).Scan(&nodeType)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, s.wrap(what, err)
	}
	p, err := s.profile(ctx, app, nodeType)
	return p, s.wrap(what, err)
}

// LastAt returns the application of the latest measured run of the programs at some paths
// (predict.ApplicationByPath), or the empty string if no run was measured. Runs of earlier versions of
// berth have the paths as their application.
func (s *Store) LastAt(ctx context.Context, place string) (app string, err error) {
	if s == nil {
		return "", nil
	}
	err = s.db.QueryRowContext(ctx, `
		SELECT app FROM runs
		WHERE place = ? AND EXISTS (SELECT 1 FROM measures WHERE run = id)
		ORDER BY ended_ns DESC, id DESC LIMIT 1`, place).Scan(&app)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return app, s.wrap("cannot look for the profile of "+predict.Label(place), err)
}

func (s *Store) profile(ctx context.Context, app, nodeType string) (p *predict.Profile, err error) {
	rows, err := s.db.QueryContext(ctx, `
		SELECT runs.id, kind, ended_ns, input_bytes, tasks, reduces, part, `+measureColumns+`
		FROM runs JOIN measures ON run = runs.id
		WHERE app = ? AND node_type = ?
		ORDER BY ended_ns, runs.id`, app, nodeType)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	p = &predict.Profile{App: app, NodeType: nodeType}
	var open run
	for rows.Next() {
		next, part, m, err := scanMeasure(rows)
		if err != nil {
			return nil, err
		}
		if next.id != open.id {
			open.addTo(p)
			open = next
		}
		open.measures[part] = m
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	open.addTo(p)
	if p.Runs == 0 {
		return nil, nil
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

// scanMeasure reads a row: the run that it belongs to, the part and its measure.
func scanMeasure(rows *sql.Rows) (run, predict.Part, *predict.Measure, error) {
	r := run{measures: predict.Measures{}}
	var part predict.Part
	var m predict.Measure
	var histogram, use, curves, memory []byte
	t := &m.Time
	if err := rows.Scan(&r.id, &r.size.Kind, &r.ended, &r.size.InputBytes, &r.size.Tasks, &r.size.Reduces, &part,
		&t.Count, &t.Sum, &t.SumSq, &t.Min, &t.Max, &m.BytesIn, &m.BytesOut, &m.RecordsIn, &m.RecordsOut,
		&m.CPU, &m.MemorySum, &m.MemoryMax, &m.InSq, &m.InTime, &histogram, &use, &curves, &memory); err != nil {
		return run{}, "", nil, err
	}
	if err := t.Histogram.UnmarshalBinary(histogram); err != nil {
		return run{}, "", nil, fmt.Errorf("%w: run %s, %s: %w", ErrCorrupt, r.id, part, err)
	}
	if use != nil {
		if err := m.Use.UnmarshalBinary(use); err != nil {
			return run{}, "", nil, fmt.Errorf("%w: run %s, %s: %w", ErrCorrupt, r.id, part, err)
		}
	}
	if curves != nil {
		if err := json.Unmarshal(curves, &m.Curves); err != nil {
			return run{}, "", nil, fmt.Errorf("%w: run %s, %s: %w", ErrCorrupt, r.id, part, err)
		}
	}
	var err error
	if m.Memory, err = predict.UnmarshalMemory(memory); err != nil {
		return run{}, "", nil, fmt.Errorf("%w: run %s, %s: %w", ErrCorrupt, r.id, part, err)
	}
	if !t.Sound() {
		return run{}, "", nil, fmt.Errorf("%w: run %s, %s: sums do not agree", ErrCorrupt, r.id, part)
	}
	return r, part, &m, nil
}
