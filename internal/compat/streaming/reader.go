package streaming

import (
	"strings"

	"berth/internal/core/job"
)

const (
	readerPrefix = "stream.recordreader."  // of the keys that -inputreader sets
	streamInput  = "StreamInputFormat"     // the input format that has the reader of -inputreader
	xmlReader    = "StreamXmlRecordReader" // and the name of its records' format in a job
)

// setReader applies -inputreader CLASS,NAME=VALUE,…. Each name is a key of the job, as in Hadoop (StreamJob.setJobConf).
func (b *builder) setReader(s Setting) error {
	words := strings.Split(s.Value, ",")
	b.conf.set(readerPrefix+"class", words[0], s.Where)
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		key := readerPrefix + name
		b.conf.set(key, value, s.Where+" "+name)
		k := findKey(key)
		switch set, _ := b.conf.get(key); {
		case k == nil:
			b.warn("%s %s has no effect: the reader has begin and end", s.Where, name)
		default:
			if err := b.key(k, set); err != nil {
				return err
			}
		}
	}
	if b.mr.InputFormat == "" {
		b.mr.InputFormat = streamInput
	}
	return nil
}

// finishReader replaces the input format StreamInputFormat by that of the reader.
func (b *builder) finishReader() error {
	class, given := b.conf.get(readerPrefix + "class")
	switch {
	case b.mr.InputFormat != streamInput && given:
		b.warn("%s has no effect: only StreamInputFormat has a reader of its own", class.Where)
		return nil
	case b.mr.InputFormat != streamInput:
		return nil
	case !given || strings.Contains(class.Value, "LineRecordReader"):
		b.mr.InputFormat = "KeyValueTextInputFormat" // the same as StreamInputFormat without a reader
		return nil
	}
	var err error
	if b.mr.InputFormat, err = findClass(class, "reader of input", readers()); err != nil {
		return err
	}
	for _, key := range []string{job.XMLBeginKey, job.XMLEndKey} {
		if mark, _ := b.conf.get(key); mark.Value == "" {
			return job.ConfigError(class.Where, "it needs the text "+strings.TrimPrefix(key, readerPrefix),
				"write "+xmlReader+",begin=TEXT,end=TEXT")
		}
	}
	return nil
}
