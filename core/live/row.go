package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
)

// cutName takes the hidden column off a row, of which it is the first.
func cutName(row []byte) (name string, rest []byte, err error) {
	dec := json.NewDecoder(bytes.NewReader(row))
	for range 2 {
		if _, err := dec.Token(); err != nil {
			return "", nil, err
		}
	}
	token, err := dec.Token()
	if err != nil {
		return "", nil, err
	}
	name, ok := token.(string)
	if !ok {
		return "", nil, errors.New("live: a row has no name")
	}
	rest = bytes.TrimLeft(row[dec.InputOffset():], " \n,")
	return name, append([]byte{'{'}, rest...), nil
}

// seed of the sums by which a process knows again what it has told.
type sums struct{ seed maphash.Seed }

func (s sums) of(row []byte) uint64 { return maphash.Bytes(s.seed, row) }
