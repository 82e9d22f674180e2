package browser

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// chromium is the one browser of all tests; each test gets a profile of its own.
var chromium struct {
	once sync.Once
	ctx  context.Context
	stop []context.CancelFunc
	err  error
}

// startChromium returns the browser's context. Without a browser the test is
// skipped, except on a build machine, where everything must be there.
func startChromium(t *testing.T) context.Context {
	t.Helper()
	chromium.once.Do(func() {
		path, err := findChromium()
		if err != nil {
			chromium.err = err
			return
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WindowSize(1280, 800),
			// Nothing but the servers of these tests is reached.
			chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE *.localhost"),
			chromedp.Flag("no-proxy-server", true))
		if os.Geteuid() == 0 {
			options = append(options, chromedp.NoSandbox) // it refuses to run as root otherwise
		}
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(allocator)
		chromium.ctx, chromium.stop = ctx, []context.CancelFunc{cancel, stop}
		chromium.err = chromedp.Do(ctx)
	})
	switch {
	case errors.Is(chromium.err, errNoChromium) && os.Getenv("CI") != "true":
		t.Skip(chromium.err)
	case chromium.err != nil:
		t.Fatal(chromium.err)
	}
	return chromium.ctx
}

func stopChromium() {
	for _, stop := range chromium.stop {
		stop()
	}
}

var errNoChromium = errors.New("no Chromium is installed")

func findChromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoChromium
}
