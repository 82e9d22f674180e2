package sites

import "sync/atomic"

// pins counts who holds something and tells when the last one has let go of it
// after it was retired.
type pins struct{ n atomic.Int64 }

// retired is a count no server reaches.
const retired = 1 << 62

// take is false when the thing has been retired.
func (p *pins) take() bool {
	for {
		n := p.n.Load()
		if n >= retired {
			return false
		}
		if p.n.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// drop reports whether it was the last one of something retired.
func (p *pins) drop() (last bool) { return p.n.Add(-1) == retired }

// retire reports whether nobody holds it.
func (p *pins) retire() (last bool) { return p.n.Add(retired) == retired }

// retireUnused retires it if nobody holds it, and reports whether it did.
func (p *pins) retireUnused() bool { return p.n.CompareAndSwap(0, retired) }

// retired reports whether it takes nobody any more.
func (p *pins) retired() bool { return p.n.Load() >= retired }
