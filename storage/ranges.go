package storage

// ByteRange is a range of bytes of one object.
type ByteRange struct {
	Reader Reader
	Offset int64
	Size   int64
}

// TotalSize is the sum of the sizes of ranges.
func TotalSize(ranges []ByteRange) (n int64) {
	for _, r := range ranges {
		n += r.Size
	}
	return n
}

// CoalesceOptions say how byte ranges that lie apart are read in fewer requests.
type CoalesceOptions struct {
	Gap      int64 // the most bytes between two ranges that are read, and dropped, to save a request
	Limit    int64 // about how many bytes a request reads, unless a single range is larger
	Requests int   // at a time
}
