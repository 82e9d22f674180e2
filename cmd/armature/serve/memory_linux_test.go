package serve

import (
	"os"
	"regexp"
	"runtime"
	"strconv"
	"testing"
)

// What the start touched is given back, and the program goes on.
func TestForgetProgram(t *testing.T) {
	resident := func() int {
		text, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		kib := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(text)
		if kib == nil {
			t.Fatalf("no RssFile: %s", text)
		}
		n, err := strconv.Atoi(string(kib[1]))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := resident()
	if err := forgetProgram(); err != nil {
		t.Fatal(err)
	}
	if after := resident(); after > before*3/4 {
		t.Errorf("%d KiB of files in memory, %d before", after, before)
	}
	runtime.GC() // reads what describes the program's types and functions
	if _, _, _, ok := runtime.Caller(0); !ok {
		t.Error("the program is not what it was")
	}
}
