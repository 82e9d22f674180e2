package doctor

import (
	"context"
	"fmt"
)

// files finds Files without their bytes, and bytes without a File.
func files(ctx context.Context, p *Patient, find func(Finding)) error {
	if p.Files == nil {
		return nil
	}
	state, err := p.Files.Examine(ctx)
	if err != nil {
		return err
	}
	if n := len(state.Trashed); n > 0 {
		find(Finding{Subject: "storage", Message: fmt.Sprintf("the bytes of %d files are in the trash: %s", n, examples(state.Trashed)), repair: p.Files.BringBack})
	}
	if n := len(state.Missing); n > 0 {
		find(Finding{Subject: "File", Message: fmt.Sprintf("the bytes of %d files are missing: %s", n, examples(state.Missing))})
	}
	if n := len(state.Orphans); n > 0 {
		find(Finding{Subject: "storage", Message: fmt.Sprintf("%d stored contents belong to no File: the daily sweep moves them to the trash when they stay so for a day: %s", n, examples(state.Orphans))})
	}
	return nil
}
