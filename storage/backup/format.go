// Package backup writes a snapshot of a store as one stream of bytes and reads
// it back into an empty store, of whatever engine. The property it keeps: a
// stream that was cut short or changed anywhere is refused before its end is
// taken for the end of the data.
//
// A stream is blocks. A block is, little endian: the length of its packed
// payload (4 bytes), the length of its payload (4), the payload packed by
// DEFLATE, and the xxh3 of all of that (8), seeded with the block's number. So
// blocks can be neither left out nor exchanged. The first payload is the header:
// streamMagic and the number of the snapshot's last commit (8). The others are
// records, none of which lies in two blocks:
//
//	recSpace  database, file       a file of keys begins
//	recPair   key, value           of that file, ascending
//	recEnd    files, pairs         counts; nothing may follow
//
// each a byte for the kind; strings are a uvarint length and bytes, counts are
// uvarints.
package backup

const (
	streamMagic = "kvsqld backup 1\n"
	recSpace    = 1
	recPair     = 2
	recEnd      = 3
	blockBytes  = 256 << 10 // of a payload, from which it is written
	blockHead   = 8
	blockSum    = 8
	maxBlock    = 1<<31 - 1
)

// Summary is what a stream contains.
type Summary struct {
	Seq   uint64 // number of the last commit in it
	Files int
	Pairs int
}
