package doctor

import (
	"context"
	"fmt"
	"strings"

	"armature/core/document"
)

// integrity has the database look at itself, as far as it can.
func integrity(ctx context.Context, p *Patient, find func(Finding)) error {
	wrong, err := p.Store.Integrity(ctx)
	for _, line := range wrong {
		find(Finding{Subject: "database", Message: line + ": restore a backup"})
	}
	return err
}

// versions compares the format of the site with that of the binary.
func versions(_ context.Context, p *Patient, find func(Finding)) error {
	switch {
	case p.State.Format > p.Format:
		find(Finding{Subject: "format", Message: fmt.Sprintf("the site has format %d, this program has %d: newer programs have been here", p.State.Format, p.Format)})
	case p.State.Format < p.Format:
		find(Finding{Subject: "format", Message: fmt.Sprintf("the site has format %d, this program has %d: it was not brought there", p.State.Format, p.Format)})
	}
	return nil
}

// names finds DocTypes of users under names that are the platform's.
func names(_ context.Context, p *Patient, find func(Finding)) error {
	for dt := range p.Schema.All {
		switch {
		case !dt.Custom:
		case p.Shipped.DocType(dt.Name) != nil:
			find(Finding{Subject: dt.Name, Message: "a DocType of the site has a name that the platform uses now; the platform's is not installed, and what belongs to it is off"})
		case p.Taken(dt.Name):
			find(Finding{Subject: dt.Name, Message: "a DocType of the site has a name that later versions will use: theirs will not be installed, and what belongs to it will be off"})
		}
	}
	for dt := range p.Shipped.All {
		if p.Schema.DocType(dt.Name) == nil {
			find(Finding{Subject: dt.Name, Message: "the platform's DocType is not installed"})
		}
	}
	return nil
}

// tables compares what the database has with what the DocTypes say.
func tables(ctx context.Context, p *Patient, find func(Finding)) error {
	all := p.Private
	for dt := range p.Schema.All {
		all = append(all[:len(all):len(all)], dt)
	}
	for _, dt := range all {
		lacks, err := p.Store.Lacks(ctx, dt)
		if err != nil {
			return fmt.Errorf("%s: %w", dt.Name, err)
		}
		if len(lacks) == 0 {
			continue
		}
		find(Finding{
			Subject: dt.Name, Message: fmt.Sprintf("the table %s lacks %s", dt.Table, strings.Join(lacks, ", ")),
			repair: func(ctx context.Context) error {
				return p.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error { return tx.Migrate(ctx, dt) })
			},
		})
	}
	return nil
}
