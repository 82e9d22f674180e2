package fault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"syscall"
	"testing"

	"armature/core/fault"
)

func TestNoRoom(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		err := fmt.Errorf("keep it: %w", &fs.PathError{Op: "write", Path: "x", Err: cause})
		for _, f := range []*fault.Error{fault.From(err), fault.Unstored(err, "not stored")} {
			if f.Status() != http.StatusInsufficientStorage || f.ExcType() != "InsufficientStorageError" || f.Kind != fault.Unavailable {
				t.Errorf("%v: %d %s", cause, f.Status(), f.ExcType())
			}
		}
	}
	other := errors.New("the plug was pulled")
	if f := fault.Unstored(other, "not stored"); f.Status() != http.StatusServiceUnavailable || f.Message != "not stored" {
		t.Errorf("%d %s", f.Status(), f.Message)
	}
	if f := fault.From(other); f.Status() != http.StatusInternalServerError {
		t.Errorf("%d", f.Status())
	}
}
