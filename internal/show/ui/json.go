package ui

import (
	"encoding/json"
	"io"

	"berth/internal/core/job"
)

// JSON writes v as one line of JSON without escaping HTML characters.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Address is what berth dashboard prints before it serves the page.
type Address struct {
	Address string `json:"address"`
}

// Added is the JSON form of berth add: the indices of the new tasks.
type Added struct {
	Added []int `json:"added"`
}

// Forgotten is the JSON form of berth forget: the removed jobs.
type Forgotten struct {
	Forgotten []job.ID `json:"forgotten"`
}
