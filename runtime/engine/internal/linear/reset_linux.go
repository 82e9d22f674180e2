package linear

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// When to drop private pages instead of copying them back. Copying keeps a page
// private, so it is copied again after every later call, changed or not: right
// for the pages a guest always writes, waste for those one odd call wrote.
// Dropping costs a fault for each page written next, and disturbs every core
// that runs this process. So a reset drops when it would copy more than
// maxCopy, or when maxCopied have been copied since the last drop.
const (
	maxCopy   = 512
	maxCopied = 4096
)

// smallScan is the length up to which reading the map is cheaper than scanning.
const smallScan = 64 * pageSize

func (m *mapped) Reset() (pages int, long bool, err error) {
	long = m.length != m.image.size
	if m.maker.method == Copy {
		pages, err = m.resetCopy()
		m.copied = int(m.high / pageSize)
		return pages, long, err
	}
	if m.maker.method == Scan && m.high > smallScan {
		pages, err = m.resetScan()
	} else {
		pages, err = m.resetPagemap()
	}
	m.copied += pages
	if err == nil && (pages > maxCopy || m.copied > maxCopied) {
		err = m.Trim()
	}
	return pages, long, err
}

// resetCopy writes everything back, for want of knowing better. What lies
// behind the image is dropped: it would be cleared after every later call.
func (m *mapped) resetCopy() (pages int, err error) {
	pages = int(m.high / pageSize)
	m.restore(0, m.image.size)
	if m.high > m.image.size {
		err = unix.Madvise(m.bytes(m.high)[m.image.size:], unix.MADV_DONTNEED)
		m.high = m.image.size
	}
	return pages, err
}

// region and scanArgs are the kernel's struct page_region and pm_scan_arg.
type region struct{ start, end, categories uint64 }

type scanArgs struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages uint64
	inverted, required, anyOf, returned                     uint64
}

const (
	pagemapScan = 0xc0606610 // PAGEMAP_SCAN

	pageIsFile    = 1 << 2
	pageIsPresent = 1 << 3
	pageIsSwapped = 1 << 4
	pageIsZero    = 1 << 5
)

// resetScan asks for the pages that are neither the file's nor the zero page
// but exist: those the guest has written, swapped out or not.
func (m *mapped) resetScan() (pages int, err error) {
	if m.regions == nil {
		m.regions = make([]region, 64)
	}
	base := uint64(uintptr(m.base))
	args := scanArgs{
		start: base, end: base + m.high,
		vec: uint64(uintptr(unsafe.Pointer(&m.regions[0]))), vecLen: uint64(len(m.regions)),
		inverted: pageIsFile | pageIsZero, required: pageIsFile | pageIsZero,
		anyOf: pageIsPresent | pageIsSwapped, returned: pageIsPresent,
	}
	args.size = uint64(unsafe.Sizeof(args))
	for args.start < args.end {
		n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(m.maker.pagemap), pagemapScan, uintptr(unsafe.Pointer(&args)))
		if errno != 0 {
			return pages, fmt.Errorf("scan the page map: %w", errno)
		}
		for _, r := range m.regions[:n] {
			pages += int((r.end - r.start) / pageSize)
			if pages <= maxCopy {
				m.restore(r.start-base, r.end-base)
			}
		}
		args.start = args.walkEnd
	}
	runtime.KeepAlive(m)
	return pages, nil
}

// resetPagemap reads the map, eight bytes for a page.
func (m *mapped) resetPagemap() (pages int, err error) {
	const present, swapped, file = 1 << 63, 1 << 62, 1 << 61
	if m.entries == nil {
		m.entries = make([]uint64, 512)
	}
	first, total := uint64(uintptr(m.base))/pageSize, m.high/pageSize
	for at := uint64(0); at < total; {
		k := min(total-at, uint64(len(m.entries)))
		buf := unsafe.Slice((*byte)(unsafe.Pointer(&m.entries[0])), k*8)
		n, err := unix.Pread(m.maker.pagemap, buf, int64(first+at)*8)
		if err != nil || n < 8 {
			return pages, fmt.Errorf("read the page map: %w", err)
		}
		k = uint64(n / 8)
		for i, e := range m.entries[:k] {
			if e&(present|swapped) == 0 || e&file != 0 {
				continue
			}
			pages++
			if pages <= maxCopy {
				from := (at + uint64(i)) * pageSize
				m.restore(from, from+pageSize)
			}
		}
		at += k
	}
	return pages, nil
}
