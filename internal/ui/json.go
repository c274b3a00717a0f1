package ui

import (
	"encoding/json"
	"io"
)

// JSON writes v as one line of JSON. Characters that HTML would mind stay as they are.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
