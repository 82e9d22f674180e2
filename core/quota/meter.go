// Package quota holds a site to what its operator lets it have: documents, bytes of
// the database, of files and of plugins, and requests at a time.
//
// Amounts are measured now and then, outside of requests' transactions, and what
// this process commits in between is added: no write waits for a counter that others
// write. So a site may get past a quota by what the transactions that run at the
// same moment add, and by what other servers have written since this one measured.
package quota

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/site"
)

// Config is what a Meter needs of a site.
type Config struct {
	Quotas func() site.Quotas // as of now

	// What there is; each runs outside of any transaction.
	Documents     func(context.Context) (int64, error) // documents that count
	DatabaseBytes func(context.Context) (int64, error)
	FileBytes     func(context.Context) (int64, error)
	PluginBytes   func(context.Context) (int64, error)
	Streams       func() int64 // of live changes that are open; nil: none ever are
	KVBytes       func() int64 // in this process
	Jobs          func() int64 // that wait, as counted lately

	Counts func(typeName string) bool // whether documents of the DocType count
	Now    func() time.Time           // nil: time.Now
	Logger *slog.Logger               // nil: nothing is logged
}

// Meter knows how much one open site has. It may be used concurrently.
type Meter struct {
	c         Config
	documents *gauge
	database  *gauge
	files     *gauge
	plugins   *gauge
	requests  atomic.Int64 // at the moment

	look chan struct{} // has Run measure what is stale
}

// New makes a meter that has measured nothing yet.
func New(c Config) *Meter {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Meter{
		c: c, look: make(chan struct{}, 1),
		documents: newGauge(c.Now, c.Documents), database: newGauge(c.Now, c.DatabaseBytes),
		files: newGauge(c.Now, c.FileBytes), plugins: newGauge(c.Now, c.PluginBytes),
	}
}

// Run measures what has grown old while the site writes, until ctx ends. A site
// without quotas, or without writes, is not looked at.
func (m *Meter) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.look:
		}
		q := m.c.Quotas()
		for _, b := range m.bounds(&q) {
			if *b.most == 0 || b.gauge == nil || !b.gauge.stale(false) {
				continue
			}
			if err := b.gauge.refresh(ctx); err != nil && ctx.Err() == nil {
				m.c.Logger.Error("measure what the site has", "quota", b.name, "error", err)
			}
		}
	}
}

// bound is one quota and what is measured of it.
type bound struct {
	name  string
	most  *int64
	gauge *gauge // nil: it is known without measuring
	now   func() int64
}

func (m *Meter) bounds(q *site.Quotas) []bound {
	kv := m.c.KVBytes
	if kv == nil {
		kv = func() int64 { return 0 }
	}
	streams := m.c.Streams
	if streams == nil {
		streams = func() int64 { return 0 }
	}
	jobs := m.c.Jobs
	if jobs == nil {
		jobs = func() int64 { return 0 }
	}
	return []bound{
		{"documents", &q.Documents, m.documents, m.documents.value},
		{"database_bytes", &q.DatabaseBytes, m.database, m.database.value},
		{"file_bytes", &q.FileBytes, m.files, m.files.value},
		{"plugin_bytes", &q.PluginBytes, m.plugins, m.plugins.value},
		{"kv_bytes", &q.KVBytes, nil, kv},
		{"jobs", &q.Jobs, nil, jobs},
		{"requests", &q.Requests, nil, m.requests.Load},
		{"streams", &q.Streams, nil, streams},
	}
}

// pending is what one transaction has added so far.
type pending struct{ documents, bytes, files int64 }

func (m *Meter) pending(tx document.Tx) *pending {
	return tx.SideEffects().Value(m, func() any { return &pending{} }).(*pending)
}

// Grow implements document.Quota.
func (m *Meter) Grow(ctx context.Context, tx document.Tx, typeName string, documents, bytes int) error {
	q := m.c.Quotas()
	if q.Documents == 0 && q.DatabaseBytes == 0 {
		return nil
	}
	if documents > 0 && !m.c.Counts(typeName) {
		documents = 0
	}
	p := m.pending(tx)
	if q.Documents > 0 && documents > 0 {
		if err := m.admit(ctx, m.documents, q.Documents, p.documents+int64(documents), "documents", q.Documents); err != nil {
			return err
		}
	}
	if q.DatabaseBytes > 0 && bytes > 0 {
		if err := m.admit(ctx, m.database, q.DatabaseBytes, p.bytes+int64(bytes), "bytes in its database", q.DatabaseBytes); err != nil {
			return err
		}
	}
	p.documents += int64(documents)
	p.bytes += int64(bytes)
	tx.AfterCommit(func() {
		m.documents.add(int64(documents))
		m.database.add(int64(bytes))
	})
	return nil
}

// Shrink implements document.Quota. Bytes are measured: what a deletion gives back
// only the database knows.
func (m *Meter) Shrink(tx document.Tx, typeName string) {
	if m.c.Quotas().Documents > 0 && m.c.Counts(typeName) {
		m.pending(tx).documents--
		tx.AfterCommit(func() { m.documents.add(-1) })
	}
}

// Full implements document.Quota.
func (m *Meter) Full(ctx context.Context) (bool, error) {
	most := m.c.Quotas().DatabaseBytes
	if most == 0 {
		return false, nil
	}
	fits, err := m.database.fits(ctx, most, 1)
	return !fits, err
}

// GrowFiles admits the bytes of a file that is about to be stored, and with a
// transaction counts them when that is committed. Error: QuotaExceededError.
func (m *Meter) GrowFiles(ctx context.Context, tx document.Tx, bytes int64, stored bool) error {
	most := m.c.Quotas().FileBytes
	if most == 0 || bytes == 0 {
		return nil
	}
	p := m.pending(tx)
	if err := m.admit(ctx, m.files, most, p.files+bytes, "bytes of files", most); err != nil {
		return err
	}
	if stored {
		p.files += bytes
		tx.AfterCommit(func() { m.files.add(bytes) })
	}
	return nil
}

// AdmitFiles admits bytes of files that are no documents, such as those of a frontend.
// Error: QuotaExceededError.
func (m *Meter) AdmitFiles(ctx context.Context, bytes int64) error {
	most := m.c.Quotas().FileBytes
	if most == 0 {
		return nil
	}
	return m.admit(ctx, m.files, most, bytes, "bytes of files", most)
}

// CountFiles counts such bytes that are stored now, or below 0 deleted.
func (m *Meter) CountFiles(bytes int64) { m.files.add(bytes) }

// GrowPlugins admits the bytes of a bundle that is about to be kept. Error:
// QuotaExceededError.
func (m *Meter) GrowPlugins(ctx context.Context, tx document.Tx, bytes int64) error {
	most := m.c.Quotas().PluginBytes
	if most == 0 {
		return nil
	}
	if err := m.admit(ctx, m.plugins, most, bytes, "bytes of plugins", most); err != nil {
		return err
	}
	tx.AfterCommit(func() { m.plugins.add(bytes) })
	return nil
}

func (m *Meter) admit(ctx context.Context, g *gauge, most, more int64, of string, quota int64) error {
	fits, err := g.fits(ctx, most, more)
	if err != nil {
		return err
	}
	if g.stale(false) {
		select {
		case m.look <- struct{}{}:
		default:
		}
	}
	if fits {
		return nil
	}
	return fault.New(fault.Validation, fault.QuotaExceeded,
		"This site may have %d %s and has %d: delete some, or ask whoever runs the server for more", quota, of, g.value())
}
