package backup

import (
	"context"
	"io"
)

// Progress is told how far a stage of a backup has come: how many bytes of how
// many; a total of 0 is one that nobody knows. It is called often, by one goroutine
// at a time. nil: nobody listens.
type Progress func(stage string, done, total int64)

// watched reads until its context ends, and tells how far it came.
type watched struct {
	ctx         context.Context
	r           io.Reader
	stage       string
	done, total int64
	tell        Progress
}

func watch(ctx context.Context, r io.Reader, stage string, total int64, tell Progress) io.Reader {
	return &watched{ctx: ctx, r: r, stage: stage, total: total, tell: tell}
}

func (w *watched) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.r.Read(p)
	w.done += int64(n)
	if w.tell != nil {
		w.tell(w.stage, w.done, w.total)
	}
	return n, err
}

// watchedWriter is the same for what is written.
type watchedWriter struct {
	ctx   context.Context
	w     io.Writer
	stage string
	done  int64
	tell  Progress
}

func (w *watchedWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.w.Write(p)
	w.done += int64(n)
	if w.tell != nil {
		w.tell(w.stage, w.done, 0)
	}
	return n, err
}
