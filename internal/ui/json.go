package ui

import (
	"encoding/json"
	"io"

	"berth/internal/job"
)

// JSON writes v as one line of JSON. Characters that HTML would mind stay as they are.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Address is what berth dashboard prints before it serves the page.
type Address struct {
	Address string `json:"address"`
}

// Forgotten is what berth forget prints: the jobs that it removed.
type Forgotten struct {
	Forgotten []job.ID `json:"forgotten"`
}
