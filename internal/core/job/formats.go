package job

// The job keys of the texts that begin and end a record of StreamXmlRecordReader.
const (
	XMLBeginKey = "stream.recordreader.begin"
	XMLEndKey   = "stream.recordreader.end"
)

// The input formats of SequenceFiles. Both give keys and values to the mapper as text, by Java's toString.
// The first one gives it binary values unchanged.
const (
	SequenceInput     = "SequenceFileInputFormat"
	SequenceTextInput = "SequenceFileAsTextInputFormat"
)

// SequenceOutput is the output format of SequenceFiles, whose keys and values are texts.
const SequenceOutput = "SequenceFileOutputFormat"

// SequenceTypeKey is the job key that says how a SequenceFile is compressed: RECORD (the default), BLOCK
// or NONE.
const SequenceTypeKey = "mapreduce.output.fileoutputformat.compress.type"

// The job keys of FieldSelectionMapReduce: the separator of fields, and the fields that become key and value.
const (
	SelectionSeparatorKey = "mapreduce.fieldsel.data.field.separator"
	MapSelectionKey       = "mapreduce.fieldsel.map.output.key.value.fields.spec"
	ReduceSelectionKey    = "mapreduce.fieldsel.reduce.output.key.value.fields.spec"
)
