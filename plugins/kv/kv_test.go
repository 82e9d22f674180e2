package kv_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"armature/core/fault"
	"armature/plugins/kv"
)

// clock is a clock that is turned by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newClock() *clock { return &clock{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)} }

// cache is the sites of one memory, by name.
type cache struct {
	*kv.Memory
	mu    sync.Mutex
	sites map[string]*kv.Site
}

func newCache(cfg kv.Config) *cache {
	return &cache{Memory: kv.NewMemory(cfg), sites: map[string]*kv.Site{}}
}

func (c *cache) site(name string) *kv.Site {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sites[name] == nil {
		c.sites[name] = c.Site()
	}
	return c.sites[name]
}

func (c *cache) Get(site, plugin, key string) ([]byte, bool) { return c.site(site).Get(plugin, key) }

func (c *cache) Set(site, plugin, key string, value []byte, ttl time.Duration) error {
	return c.site(site).Set(plugin, key, value, ttl)
}

func (c *cache) Delete(site, plugin, key string) { c.site(site).Delete(plugin, key) }

func (c *cache) Drop(site string, plugins ...string) { c.site(site).Drop(plugins...) }

func set(t *testing.T, c *cache, site, plugin, key, value string, ttl time.Duration) {
	t.Helper()
	if err := c.Set(site, plugin, key, []byte(value), ttl); err != nil {
		t.Fatal(err)
	}
}

// want compares a value; "-" stands for none.
func want(t *testing.T, c *cache, site, plugin, key, value string) {
	t.Helper()
	got, ok := c.Get(site, plugin, key)
	if !ok && value == "-" {
		return
	}
	if !ok || string(got) != value {
		t.Errorf("%s, %s, %s is %.40q, %v; want %.40q", site, plugin, key, got, ok, value)
	}
}

func TestValues(t *testing.T) {
	c := newCache(kv.Config{})
	want(t, c, "s", "p", "k", "-")
	c.Delete("s", "p", "k")
	set(t, c, "s", "p", "k", "one", 0)
	set(t, c, "s", "p", "empty", "", 0)
	want(t, c, "s", "p", "k", "one")
	want(t, c, "s", "p", "empty", "")
	set(t, c, "s", "p", "k", "two", 0)
	want(t, c, "s", "p", "k", "two")
	c.Delete("s", "p", "k")
	want(t, c, "s", "p", "k", "-")
}

// TestValuesAreCopies: what a guest does with its memory afterwards changes
// nothing, and a value once read stays as it was.
func TestValuesAreCopies(t *testing.T) {
	c := newCache(kv.Config{})
	b := []byte("mine")
	if err := c.Set("s", "p", "k", b, 0); err != nil {
		t.Fatal(err)
	}
	copy(b, "evil")
	read, _ := c.Get("s", "p", "k")
	set(t, c, "s", "p", "k", "next", 0)
	if string(read) != "mine" {
		t.Errorf("the value became %q", read)
	}
}

func TestTimeToLive(t *testing.T) {
	now := newClock()
	c := newCache(kv.Config{Now: now.Now})
	set(t, c, "s", "p", "short", "x", time.Second)
	set(t, c, "s", "p", "long", "x", time.Minute)
	set(t, c, "s", "p", "stays", "x", 0)
	now.advance(time.Second - 1)
	want(t, c, "s", "p", "short", "x")
	now.advance(1)
	want(t, c, "s", "p", "short", "-")
	want(t, c, "s", "p", "long", "x")
	set(t, c, "s", "p", "long", "x", 0) // replaced with its time
	now.advance(1000 * time.Hour)
	want(t, c, "s", "p", "long", "x")
	want(t, c, "s", "p", "stays", "x")
}

// TestOwners: no name of a site, plugin or key leads to what another owns.
func TestOwners(t *testing.T) {
	c := newCache(kv.Config{})
	names := []string{"", "a", "a.b", "b", "a/b", "a\x00b", "a\x00", "\x00b", "*", "../a", "A", "ab"}
	keys := names[1:]
	for _, s := range names {
		for _, p := range names {
			for _, k := range keys {
				set(t, c, s, p, k, fmt.Sprintf("%q %q %q", s, p, k), 0)
			}
		}
	}
	for _, s := range names {
		for _, p := range names {
			for _, k := range keys {
				want(t, c, s, p, k, fmt.Sprintf("%q %q %q", s, p, k))
			}
		}
	}
	c.Delete("a", "b", "a")
	want(t, c, "a", "b", "a", "-")
	want(t, c, "a", "a", "a", `"a" "a" "a"`)
	want(t, c, "b", "b", "a", `"b" "b" "a"`)
}

func TestDrop(t *testing.T) {
	c := newCache(kv.Config{})
	fill := func() {
		for _, s := range []string{"s1", "s2"} {
			for _, p := range []string{"p1", "p2"} {
				set(t, c, s, p, "k", "x", 0)
			}
		}
	}
	fill()
	c.Drop("s1", "p1")
	want(t, c, "s1", "p1", "k", "-")
	want(t, c, "s1", "p2", "k", "x")
	want(t, c, "s2", "p1", "k", "x")
	fill()
	c.Drop("s1")
	want(t, c, "s1", "p1", "k", "-")
	want(t, c, "s1", "p2", "k", "-")
	want(t, c, "s2", "p1", "k", "x")
	c.Drop("nothing")
	c.Drop("nothing", "p")
	set(t, c, "s1", "p1", "k", "again", 0)
	want(t, c, "s1", "p1", "k", "again")
}

func TestRefused(t *testing.T) {
	c := newCache(kv.Config{})
	set(t, c, "s", "p", "k", "kept", 0)
	tests := []struct {
		name  string
		key   string
		value int
		ttl   time.Duration
		kind  fault.Kind
	}{
		{"no key", "", 1, 0, fault.BadRequest},
		{"long key", strings.Repeat("k", 256), 1, 0, fault.BadRequest},
		{"longest key", strings.Repeat("k", 255), 1, 0, 0},
		{"large value", "k", 1<<20 + 1, 0, fault.TooLarge},
		{"largest value", "large", 1 << 20, 0, 0},
		{"time backwards", "k", 1, -1, fault.BadRequest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := c.Set("s", "p", tt.key, make([]byte, tt.value), tt.ttl); fault.KindOf(err) != tt.kind {
				t.Errorf("error %v, want kind %d", err, tt.kind)
			}
		})
	}
	want(t, c, "s", "p", "k", "kept")
}

func TestLeastRecentlyUsedGoes(t *testing.T) {
	c := newCache(kv.Config{MaxEntries: 3})
	for _, k := range []string{"a", "b", "c"} {
		set(t, c, "s", "p", k, k, 0)
	}
	want(t, c, "s", "p", "a", "a")
	set(t, c, "s", "p", "d", "d", 0)
	want(t, c, "s", "p", "b", "-")
	set(t, c, "s", "p", "c", "new", 0)
	set(t, c, "s", "p", "e", "e", 0)
	for key, value := range map[string]string{"a": "-", "c": "new", "d": "d", "e": "e"} {
		want(t, c, "s", "p", key, value)
	}
	set(t, c, "s", "other", "a", "x", 0) // another's bound is another's
	want(t, c, "s", "p", "d", "d")
}

// held counts the keys that are still there.
func held(c *cache, site, plugin string, n int) (found int) {
	for i := range n {
		if _, ok := c.Get(site, plugin, fmt.Sprint(i)); ok {
			found++
		}
	}
	return found
}

func TestBytesAreBounded(t *testing.T) {
	c := newCache(kv.Config{MaxBytes: 100_000})
	set(t, c, "s", "other", "0", "mine", 0)
	for i := range 1000 {
		set(t, c, "s", "p", fmt.Sprint(i), strings.Repeat("x", 1000), 0)
	}
	if n := held(c, "s", "p", 1000); n < 75 || n > 100 {
		t.Errorf("%d values of 1,000 bytes in 100,000", n)
	}
	want(t, c, "s", "p", "999", strings.Repeat("x", 1000))
	want(t, c, "s", "other", "0", "mine")

	for i := range 1000 { // nothing has its price too
		set(t, c, "s", "p", fmt.Sprint(i), "", 0)
	}
	if n := held(c, "s", "p", 1000); n > 500 {
		t.Errorf("%d empty values in 100,000 bytes", n)
	}
}

// TestAllAreBounded: over the common bound the site that has most makes room, and
// every site comes to its share.
func TestAllAreBounded(t *testing.T) {
	c := newCache(kv.Config{MaxBytes: 400_000, MaxAllBytes: 400_000})
	fill := func(site string, n int) {
		for i := range n {
			set(t, c, site, "p", fmt.Sprint(i), strings.Repeat("x", 1000), 0)
		}
	}
	fill("first", 300)
	fill("second", 300)
	first, second := held(c, "first", "p", 300), held(c, "second", "p", 300)
	if first < 120 || second < 120 || c.Bytes() > 400_000 {
		t.Errorf("the sites hold %d and %d values, in %d bytes", first, second, c.Bytes())
	}
	c.Drop("first") // what is dropped is not counted any more
	fill("second", 300)
	if n := held(c, "second", "p", 300); n != 300 {
		t.Errorf("%d values are left", n)
	}
}

// TestNoSitePushesOutAnother: a site that keeps ever more, in as many plugins as it
// likes, loses what it kept itself, and nothing of a site that has less.
func TestNoSitePushesOutAnother(t *testing.T) {
	c := newCache(kv.Config{MaxBytes: 100_000, MaxAllBytes: 400_000})
	for i := range 80 {
		set(t, c, "quiet", "p", fmt.Sprint(i), strings.Repeat("x", 1000), 0)
	}
	for plugin := range 10 {
		for i := range 80 {
			set(t, c, "loud", fmt.Sprint(plugin), fmt.Sprint(i), strings.Repeat("x", 1000), 0)
		}
	}
	if n := held(c, "quiet", "p", 80); n != 80 {
		t.Errorf("%d of 80 values are left", n)
	}
	if n := held(c, "loud", "9", 80); n != 80 {
		t.Errorf("of what the other site kept last %d of 80 are left", n)
	}
	if n := c.Bytes(); n > 400_000 {
		t.Errorf("all together take %d bytes", n)
	}
}

// TestSiteBound: a site keeps within what its operator lets it, whatever there is
// room for, and goes by a change at its next write.
func TestSiteBound(t *testing.T) {
	c := newCache(kv.Config{})
	var most int64 = 50_000
	s := c.site("s")
	s.Bound(func() int64 { return most })
	fill := func() {
		for i := range 100 {
			set(t, c, "s", fmt.Sprint("p", i%3), fmt.Sprint(i), strings.Repeat("x", 1000), 0)
		}
	}
	fill()
	if n := s.Bytes(); n > most || n < most/2 {
		t.Errorf("it keeps %d bytes of %d", n, most)
	}
	most = 0
	fill()
	if n := s.Bytes(); n < 100_000 {
		t.Errorf("without a bound it keeps %d bytes", n)
	}
}

func TestTinyBounds(t *testing.T) {
	c := newCache(kv.Config{MaxBytes: 500, MaxKey: 10})
	if err := c.Set("s", "p", "k", make([]byte, 300), 0); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("error %v", err)
	}
	set(t, c, "s", "p", "k", "fits", 0)
	want(t, c, "s", "p", "k", "fits")
}

// TestConcurrentUse: whatever happens at the same time, a value is one that was
// set under its name.
func TestConcurrentUse(t *testing.T) {
	c := newCache(kv.Config{MaxBytes: 20_000, MaxAllBytes: 100_000})
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 2000 {
				site, plugin, key := fmt.Sprint("s", (worker+i)%4), fmt.Sprint("p", i%3), fmt.Sprint("k", i%50)
				text := []byte(strings.Repeat(site+plugin+key, 20))
				switch i % 10 {
				case 0, 1, 2, 3:
					if err := c.Set(site, plugin, key, text, 0); err != nil {
						t.Error(err)
					}
				case 4:
					c.Delete(site, plugin, key)
				default:
					if got, ok := c.Get(site, plugin, key); ok && !bytes.Equal(got, text) {
						t.Errorf("%s %s %s is %q", site, plugin, key, got)
					}
				}
				if i%500 == 499 {
					c.Drop(site, plugin)
				}
			}
		})
	}
	wg.Wait()
	for i := range 4 {
		c.Drop(fmt.Sprint("s", i))
	}
	if n := c.Bytes(); n != 0 {
		t.Errorf("%d bytes are left of nothing", n)
	}
}

func BenchmarkGet(b *testing.B) {
	c := newCache(kv.Config{})
	if err := c.Set("site", "plugin", "key", make([]byte, 100), 0); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Get("site", "plugin", "key")
		}
	})
}
