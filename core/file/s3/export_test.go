package s3

// InParts has more than so many bytes sent in parts of that size.
func (b *Bucket) InParts(size int64) { b.atOnce, b.minPart = size, size }
