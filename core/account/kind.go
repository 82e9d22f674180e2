package account

// Kind is what memory is taken for. It changes nothing but the figures.
type Kind uint8

// The kinds.
const (
	Request Kind = iota // what every request takes
	Body                // a request's body and what is decoded from it
	Answer              // rows that are read, and the answer made of them
	Image               // an image while it is made smaller
	Guest               // linear memories of guests
	Plugin              // bundles, modules and their snapshots
	Archive             // keys of archives that are made or read
	Child               // processes that work for this one
	Stream              // connections over which changes are told as they happen, and what waits to be sent
	kinds
)

var names = [kinds]string{"request", "body", "answer", "image", "guest", "plugin", "archive", "child", "stream"}

// String is the kind as metrics name it.
func (k Kind) String() string { return names[k] }

// Outside reports whether it is memory that Go's heap does not hold, so that the
// garbage collector has to be told of it.
func (k Kind) Outside() bool { return k == Guest || k == Plugin || k == Child }
