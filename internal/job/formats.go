package job

// The job keys of the texts that begin and end a record of StreamXmlRecordReader.
const (
	XMLBeginKey = "stream.recordreader.begin"
	XMLEndKey   = "stream.recordreader.end"
)

// The input formats of SequenceFiles. Both hand out keys and values as text, by Java's toString, but for
// bytes, which the first one hands out as they are.
const (
	SequenceInput     = "SequenceFileInputFormat"
	SequenceTextInput = "SequenceFileAsTextInputFormat"
)
