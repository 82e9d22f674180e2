package file

import (
	"bufio"
	"encoding/binary"
	"io"
)

// jpegScan is what the segments before the pixels of a JPEG say.
type jpegScan struct {
	progressive bool
	turn        int // EXIF orientation; 1 where there is none
}

// scanJPEG reads the segments up to the frame header. What cannot be read is
// left for the decoder to complain about.
func scanJPEG(r *bufio.Reader) jpegScan {
	found := jpegScan{turn: 1}
	if _, err := r.Discard(2); err != nil { // start of image
		return found
	}
	for range 1000 {
		var head [4]byte // ff, marker, length with itself
		if _, err := io.ReadFull(r, head[:]); err != nil || head[0] != 0xff {
			return found
		}
		size := int(binary.BigEndian.Uint16(head[2:])) - 2
		switch marker := head[1]; {
		case marker == 0xc2:
			found.progressive = true
			return found
		case marker == 0xc0, marker == 0xc1, marker == 0xda, size < 0:
			return found
		case marker == 0xe1: // EXIF, among others
			segment := make([]byte, size)
			if _, err := io.ReadFull(r, segment); err != nil {
				return found
			}
			if turn := orientation(segment); turn > 0 {
				found.turn = turn
			}
		default:
			if _, err := r.Discard(size); err != nil {
				return found
			}
		}
	}
	return found
}

// orientation finds the tag in an EXIF segment; 0 when it is not there.
func orientation(segment []byte) int {
	const header = "Exif\x00\x00"
	if len(segment) < len(header)+8 || string(segment[:len(header)]) != header {
		return 0
	}
	tiff := segment[len(header):]
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 0
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 0
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			return 0
		}
		// Tag, type SHORT, count 1, then the value itself.
		if order.Uint16(entries) == 0x0112 && order.Uint16(entries[2:]) == 3 {
			if turn := int(order.Uint16(entries[8:])); turn >= 1 && turn <= 8 {
				return turn
			}
			return 0
		}
		entries = entries[12:]
	}
	return 0
}
