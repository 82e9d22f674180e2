package auth_test

import (
	"strings"
	"testing"

	"armature/core/auth"
)

func TestPassword(t *testing.T) {
	hash, err := auth.HashPassword("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	if !auth.CheckPassword(hash, "correct horse") {
		t.Error("the right password was refused")
	}
	if auth.CheckPassword(hash, "correct hors") {
		t.Error("a wrong password passed")
	}
	if again, _ := auth.HashPassword("correct horse"); again == hash {
		t.Error("hashing twice gives the same text: the salt repeats")
	}
	for _, password := range []string{"", "seven77", "Password1", "aaaaaaaaaaaa", strings.Repeat("xy", auth.MaxPassword)} {
		if _, err := auth.HashPassword(password); err == nil {
			t.Errorf("a password of %d bytes was taken", len(password))
		}
	}
}

func TestCheckPasswordRefusesHashes(t *testing.T) {
	good, err := auth.HashPassword("a good one")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, hash string }{
		{"empty", ""},
		{"plain text", "a good one"},
		{"another kind", strings.Replace(good, "argon2id", "argon2i", 1)},
		{"another version", strings.Replace(good, "v=19", "v=16", 1)},
		{"too much memory", strings.Replace(good, "m=19456", "m=4294967295", 1)},
		{"too many passes", strings.Replace(good, "t=2", "t=4000000000", 1)},
		{"no threads", strings.Replace(good, "p=1", "p=0", 1)},
		{"no key", good[:strings.LastIndex(good, "$")+1]},
		{"cut", good[:len(good)-3]},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if auth.CheckPassword(tt.hash, "a good one") {
				t.Error("it fits")
			}
		})
	}
}
