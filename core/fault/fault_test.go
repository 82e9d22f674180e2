package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"armature/core/fault"
)

func TestEveryKindHasAStatusAndAType(t *testing.T) {
	kinds := fault.Kinds()
	if len(kinds) != 17 {
		t.Fatalf("%d kinds; the list is append-only", len(kinds))
	}
	for i, k := range kinds {
		if int(k) != i+1 {
			t.Errorf("kind %d stands at place %d", k, i+1)
		}
		if k.Status() < 400 || k.ExcType() == "" {
			t.Errorf("kind %d: status %d, exc_type %q", k, k.Status(), k.ExcType())
		}
	}
	if fault.Kind(200).Status() != 500 || fault.Kind(0).ExcType() != "InternalError" {
		t.Error("an unknown kind is an internal error")
	}
}

func TestFromKeepsFaultsAndHidesTheRest(t *testing.T) {
	denied := fault.Denied("no %s", "entry")
	wrapped := fmt.Errorf("while knocking: %w", denied)
	if got := fault.From(wrapped); got != denied {
		t.Errorf("From lost the fault: %v", got)
	}
	secret := errors.New("password=hunter2")
	hidden := fault.From(secret)
	if hidden.Kind != fault.Internal || hidden.Message == secret.Error() {
		t.Errorf("From showed the inside: %+v", hidden)
	}
	if !errors.Is(hidden, secret) {
		t.Error("the cause is lost to the log")
	}
	if fault.KindOf(fmt.Errorf("q: %w", context.DeadlineExceeded)) != fault.Timeout {
		t.Error("a deadline is a Timeout")
	}
	if fault.KindOf(nil) != 0 {
		t.Error("nil has no kind")
	}
}

func TestIsComparesKindAndType(t *testing.T) {
	err := fmt.Errorf("save: %w", fault.Invalid("MandatoryError", "title"))
	if !errors.Is(err, fault.Invalid("MandatoryError", "")) {
		t.Error("same kind and type are the same error")
	}
	if errors.Is(err, fault.Invalid("", "")) {
		t.Error("another type is another error")
	}
}
