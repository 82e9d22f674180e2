package publisher_test

import (
	"strings"
	"testing"

	"armature/plugins/publisher"
)

// TestKeys: what Generate writes is read again, and nothing else is taken for a key.
func TestKeys(t *testing.T) {
	secret, public, err := publisher.Generate("")
	if err != nil {
		t.Fatal(err)
	}
	key, err := publisher.Key(string(public))
	if err != nil || !strings.HasPrefix(key, "RW") || len(key) != 56 {
		t.Fatalf("%q %v", key, err)
	}
	if again, err := publisher.Key(key); err != nil || again != key {
		t.Errorf("the line alone: %q %v", again, err)
	}
	opened, err := publisher.Open(secret, "")
	if err != nil || opened.Public() != key {
		t.Errorf("%q %v", opened.Public(), err)
	}
	if publisher.Encrypted(secret) {
		t.Error("a key without a passphrase asks for one")
	}
	for _, text := range []string{"", "RW", key[1:], key + key, "untrusted comment: x\n", string(secret), "none"} {
		if got, err := publisher.Key(text); err == nil {
			t.Errorf("%q is the key %s", text, got)
		}
		if text == string(secret) {
			continue
		}
		if _, err := publisher.Open([]byte(text), ""); err == nil {
			t.Errorf("%q is a secret key", text)
		}
	}
}

// TestStatement: no version, which is any text, makes one statement look like
// another.
func TestStatement(t *testing.T) {
	a := publisher.Statement{Name: "a", Version: `1","sha256":"x`, Hash: "y"}
	b := publisher.Statement{Name: "a", Version: "1", Hash: "x"}
	if text := string(a.Text()); strings.HasPrefix(text, strings.TrimSuffix(string(b.Text()), "}\n")) {
		t.Errorf("%s", text)
	}
}
