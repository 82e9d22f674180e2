package sites

import (
	"context"
	"errors"
	"os"

	"armature/core/fault"
	"armature/core/store"
)

// Ready reports whether the server can serve: there is a site, the database of all
// sites answers, and there is room to write. It opens none; what is wrong with one of many sites is
// that site's.
func (s *Set) Ready(ctx context.Context) error {
	if len(s.list.now().entries) == 0 {
		return errors.New("there is no site")
	}
	return errors.Join(s.diskFull(), s.Registry().Ping(ctx))
}

// probe is how much must fit into the data folder for there to be room.
const probe = 256 << 10 // bytes

// diskFull says what is full: the disk of the data folder, or that of the database of a
// site which is open. What a full disk refuses is not said here by anything else: a
// database answers as long as it is only read.
func (s *Set) diskFull() error {
	for _, e := range s.list.now().entries {
		t := e.serving.Load()
		if t == nil {
			continue
		}
		if db, ok := t.Store.(*store.Store); ok && db.Full() {
			return fault.Full(nil, "The disk of the database is full")
		}
	}
	err := tryToWrite(s.c.Layout.Data)
	if fault.NoRoom(err) {
		return fault.Full(err, "The disk of the data folder is full")
	}
	return nil // whatever else hinders writing shows where something is written
}

// tryToWrite writes a file and removes it again.
func tryToWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".room-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, probe))
	return errors.Join(err, f.Close())
}
