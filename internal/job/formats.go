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

// SequenceOutput is the output format of SequenceFiles, whose keys and values are texts.
const SequenceOutput = "SequenceFileOutputFormat"

// SequenceTypeKey is the job key that says whether a SequenceFile is compressed by RECORD, which it is
// without the key, by BLOCK, or with NONE not at all.
const SequenceTypeKey = "mapreduce.output.fileoutputformat.compress.type"

// The job keys of FieldSelectionMapReduce: what parts fields, and which of them become key and value.
const (
	SelectionSeparatorKey = "mapreduce.fieldsel.data.field.separator"
	MapSelectionKey       = "mapreduce.fieldsel.map.output.key.value.fields.spec"
	ReduceSelectionKey    = "mapreduce.fieldsel.reduce.output.key.value.fields.spec"
)
