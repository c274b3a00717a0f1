package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// turnFile is where the measurements of a turn are kept, the first of which has the number 1.
func turnFile(dir string, number int) string {
	return filepath.Join(dir, fmt.Sprintf("turn-%d.json", number))
}

// readTurns returns the turns that are kept in a folder.
func readTurns(dir string) (all []*results, err error) {
	for {
		file := turnFile(dir, len(all)+1)
		b, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			return all, nil
		}
		r := &results{}
		if err == nil {
			err = json.Unmarshal(b, r)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, r)
	}
}

// write keeps the measurements of a turn.
func (r *results) write(dir string, number int) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(turnFile(dir, number), b, 0o644)
}
