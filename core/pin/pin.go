// Package pin counts who holds something that is to be closed once it has been
// replaced and nobody holds it any more.
package pin

import "sync/atomic"

// Count is how many hold a thing, and whether it was retired: nobody takes it any
// more. Both are one number, so that "nobody holds it" and "nobody may any more" are
// seen at once, without a lock. The zero value is held by nobody and may be taken.
type Count struct{ n atomic.Int64 }

// retired is added to the count when the thing is retired; no server reaches it.
const retired = 1 << 62

// Take holds the thing until Drop. It is false when the thing has been retired.
func (c *Count) Take() bool {
	for {
		n := c.n.Load()
		if n >= retired {
			return false
		}
		if c.n.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Again is Take for somebody who holds the thing already: it never fails, for what
// began with the thing may go on with it after it was retired.
func (c *Count) Again() { c.n.Add(1) }

// Drop gives the thing back, and reports whether that was the last hold on something
// retired: whoever gets true closes it.
func (c *Count) Drop() (last bool) { return c.n.Add(-1) == retired }

// Retire has nobody take the thing any more, and reports whether nobody holds it:
// whoever gets true closes it. It is called once.
func (c *Count) Retire() (last bool) { return c.n.Add(retired) == retired }

// RetireUnused retires the thing if nobody holds it, and reports whether it did.
func (c *Count) RetireUnused() bool { return c.n.CompareAndSwap(0, retired) }

// Retired reports whether nobody takes the thing any more.
func (c *Count) Retired() bool { return c.n.Load() >= retired }

// Held is how many hold it.
func (c *Count) Held() int64 { return c.n.Load() &^ retired }
