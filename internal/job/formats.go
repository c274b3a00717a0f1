package job

// The job keys of the texts that begin and end a record of StreamXmlRecordReader.
const (
	XMLBeginKey = "stream.recordreader.begin"
	XMLEndKey   = "stream.recordreader.end"
)
