package linear

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const pageSize = 4096

// mappedImage is an image in a sealed memory file: nobody can change it, and
// all clones share its pages.
type mappedImage struct {
	maker *mappedMaker
	fd    int
	size  uint64
	view  []byte // all of it, read only
	used  uint64
}

func (mk *mappedMaker) Freeze(contents []byte) (Image, error) {
	fd, err := unix.MemfdCreate("armature-image", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("make a memory file: %w", err)
	}
	im := &mappedImage{maker: mk, fd: fd, size: uint64(len(contents))}
	if err := im.fill(contents); err != nil {
		_ = im.Close()
		return nil, err
	}
	return im, nil
}

func (im *mappedImage) fill(contents []byte) error {
	if im.size == 0 {
		return nil
	}
	if err := unix.Ftruncate(im.fd, int64(im.size)); err != nil {
		return fmt.Errorf("size a memory file: %w", err)
	}
	if err := im.write(contents); err != nil {
		return fmt.Errorf("fill a memory file: %w", err)
	}
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(im.fd), unix.F_ADD_SEALS, seals); err != nil {
		return fmt.Errorf("seal a memory file: %w", err)
	}
	view, err := unix.Mmap(im.fd, 0, len(contents), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map a memory file: %w", err)
	}
	im.view = view
	return nil
}

// write writes the pages that are not zero, in runs; the rest stay holes.
func (im *mappedImage) write(contents []byte) error {
	for at := 0; at < len(contents); {
		end := at
		for end < len(contents) && !isZero(contents[end:min(end+pageSize, len(contents))]) {
			end = min(end+pageSize, len(contents))
		}
		if end == at {
			at += pageSize
			continue
		}
		n, err := unix.Pwrite(im.fd, contents[at:end], int64(at))
		if err != nil {
			return err
		}
		at += n
		im.used = uint64(at)
	}
	return nil
}

func (im *mappedImage) Size() uint64  { return im.size }
func (im *mappedImage) Bytes() []byte { return im.view[:im.used] }

func (im *mappedImage) Close() error {
	if im.view != nil {
		if err := unix.Munmap(im.view); err != nil {
			return err
		}
		im.view = nil
	}
	return unix.Close(im.fd)
}

func (im *mappedImage) Clone(limit uint64) (Memory, error) {
	if im.size > limit {
		return nil, fmt.Errorf("an image of %d bytes does not fit a limit of %d", im.size, limit)
	}
	m := &mapped{maker: im.maker, image: im, reserved: limit, length: im.size, ready: im.size, high: im.size}
	if err := m.reserve(); err != nil {
		return nil, err
	}
	if im.size == 0 {
		return m, nil
	}
	_, err := unix.MmapPtr(im.fd, 0, m.base, uintptr(im.size), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_NORESERVE)
	if err != nil {
		_ = m.Close()
		return nil, fmt.Errorf("map an image: %w", err)
	}
	return m, nil
}

// restore writes the image over [from, to) of the memory.
func (m *mapped) restore(from, to uint64) {
	b := m.bytes(to)[from:]
	if from < m.image.used {
		b = b[copy(b, m.image.view[from:min(to, m.image.used)]):]
	}
	clear(b)
}
