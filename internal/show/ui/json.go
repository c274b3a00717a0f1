package ui

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// JSON writes v as one line of JSON without escaping HTML characters.
func JSON(w io.Writer, v any) error { return encoder(w).Encode(v) }

func encoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// JSONList writes an object as JSON does, with a further last key whose value is a list, which is written one element at a time. What stands before
// the list is written before the first element is asked for. An error of the list ends the output there.
func JSONList[T any](w io.Writer, object any, key string, list iter.Seq2[T, error]) error {
	out, one := bufio.NewWriterSize(w, 1<<16), new(bytes.Buffer)
	enc := encoder(one)
	if err := enc.Encode(object); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%s,%q:[", bytes.TrimSuffix(one.Bytes(), []byte("}\n")), key) // an error stays in the writer
	if err := out.Flush(); err != nil {
		return err
	}
	between := ""
	for x, err := range list {
		one.Reset()
		if err == nil {
			err = enc.Encode(x)
		}
		if err != nil {
			return err
		}
		_, _ = out.WriteString(between)
		if _, err := out.Write(bytes.TrimSpace(one.Bytes())); err != nil {
			return err
		}
		between = ","
	}
	_, _ = out.WriteString("]}\n")
	return out.Flush()
}

// Address is what berth dashboard prints before it serves the page.
type Address struct {
	Address string `json:"address"` // address to open in a browser; whoever has it can see the page
}

// Submitted is the JSON form of a job that goes on without its command (--detach, --open), and of berth close.
type Submitted struct {
	ID job.ID `json:"id"` // `bag-17`, `mr-18`
}

// SubmittedStages is the same of a job in stages.
type SubmittedStages struct {
	IDs []job.ID `json:"ids"` // the stages, in order
}

// Stages is the JSON form of a job in stages that came to its end.
type Stages struct {
	Stages []report.JobView `json:"stages"` // those that began, in order
}

// Added is the JSON form of berth add: the indices of the new tasks.
type Added struct {
	Added []int `json:"added"` // index of each task, from 0
}

// Forgotten is the JSON form of berth forget: the removed jobs.
type Forgotten struct {
	Forgotten []job.ID `json:"forgotten"` // ids of the jobs that were removed, in the order in which they were named
}
