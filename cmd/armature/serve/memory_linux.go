package serve

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// forgetProgram takes the pages of the program's own file out of this process's
// memory: starting touches most of the file once, and the kernel maps sixteen
// pages for each that is touched. What serving needs is mapped again as it is
// used, from the system's cache. Only mappings of which nothing was ever written
// are dropped: they are as the file is.
func forgetProgram() error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return err
	}
	defer f.Close()
	var from, to uintptr // of the mapping whose lines follow; to is 0 where it is not to be dropped
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if a, b, ok := mapping(line, program); ok {
			from, to = a, b
			continue
		}
		switch words := strings.Fields(line); {
		case len(words) == 0:
		case !strings.HasSuffix(words[0], ":"):
			to = 0 // another mapping
		case words[0] == "Anonymous:" && to != 0 && words[1] == "0":
			if _, _, errno := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED); errno != 0 {
				return fmt.Errorf("drop the pages of the program: %w", errno)
			}
		}
	}
	return lines.Err()
}

// mapping reads the first line about a mapping; not ok where it is none of the
// program's file, or may be written.
func mapping(line, program string) (from, to uintptr, ok bool) {
	var permissions, offset, device string
	var inode uint64
	var path string
	if _, err := fmt.Sscanf(line, "%x-%x %s %s %s %d %s", &from, &to, &permissions, &offset, &device, &inode, &path); err != nil {
		return 0, 0, false
	}
	return from, to, path == program && strings.HasPrefix(permissions, "r-")
}
