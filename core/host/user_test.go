package host_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"armature/core/auth"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/host"
	"armature/core/identity"
	"armature/core/method"
)

// write runs a change as the platform itself.
func write(t *testing.T, tenant *host.Tenant, fn func(tx document.Tx) error) error {
	t.Helper()
	return tenant.Store.Write(t.Context(), document.Alone, fn)
}

func insertUser(t *testing.T, tenant *host.Tenant, values map[string]any) *document.Document {
	t.Helper()
	var doc *document.Document
	err := write(t, tenant, func(tx document.Tx) (err error) {
		doc, err = tenant.Documents.Insert(t.Context(), tx, identity.Root(), "User", values)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestUserIsCompleted(t *testing.T) {
	s, _ := newSet(t)
	tenant := create(t, s, "default")
	doc := insertUser(t, tenant, map[string]any{
		"email": " Jane@Example.COM ", "first_name": "Jane", "last_name": "Doe",
		"roles":      []any{map[string]any{"role": "System Manager"}},
		"api_key":    "chosen",
		"api_secret": "hmac1:00", "password_hash": "$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA",
	})
	for field, want := range map[string]any{
		"name": "jane@example.com", "full_name": "Jane Doe", "user_type": auth.SystemUser,
		"api_key": nil, "api_secret": nil, "password_hash": nil,
	} {
		if got := doc.Get(field); got != want {
			t.Errorf("%s = %v, want %v", field, got, want)
		}
	}
	if doc = insertUser(t, tenant, map[string]any{"email": "rob@example.com", "first_name": "Rob"}); doc.Text("user_type") != "Website User" {
		t.Errorf("a user without roles is a %s", doc.Text("user_type"))
	}
}

func TestBuiltInUsersStay(t *testing.T) {
	s, _ := newSet(t)
	tenant := create(t, s, "default")
	for _, user := range []string{identity.Administrator, identity.Guest} {
		err := write(t, tenant, func(tx document.Tx) error {
			return tenant.Documents.Delete(t.Context(), tx, identity.Root(), "User", user)
		})
		if fault.From(err) == nil || fault.KindOf(err) != fault.Validation {
			t.Errorf("delete %s: %v", user, err)
		}
		err = write(t, tenant, func(tx document.Tx) error {
			_, err := tenant.Documents.Update(t.Context(), tx, identity.Root(), "User", user, map[string]any{"enabled": false})
			return err
		})
		if fault.From(err) == nil || fault.KindOf(err) != fault.Validation {
			t.Errorf("disable %s: %v", user, err)
		}
	}
}

func TestGenerateKeysMethod(t *testing.T) {
	s, _ := newSet(t)
	tenant := create(t, s, "default")
	insertUser(t, tenant, map[string]any{"email": "rob@example.com", "first_name": "Rob"})
	generate := func(caller *identity.Caller) (method.Result, error) {
		return tenant.Methods().Run(t.Context(), method.Invocation{
			Path: "framework.core.doctype.user.user.generate_keys", Verb: "POST", Caller: caller,
			Args: method.ArgsMap(map[string]any{"user": "rob@example.com"}),
		})
	}
	if _, err := generate(&identity.Caller{User: "rob@example.com", Roles: []string{identity.All}}); err == nil || fault.KindOf(err) != fault.Permission {
		t.Errorf("a user without the role: %v", err)
	}
	res, err := generate(identity.Root())
	if err != nil {
		t.Fatal(err)
	}
	var keys auth.Keys
	if err := json.Unmarshal(res.Message, &keys); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Authorization", "token "+keys.Key+":"+keys.Secret)
	caller, err := tenant.Auth.Authenticate(t.Context(), r)
	if err != nil || caller.User != "rob@example.com" {
		t.Fatalf("%v, %v", caller, err)
	}

	// Roles that change are seen by the very next request of this process.
	err = write(t, tenant, func(tx document.Tx) error {
		_, err := tenant.Documents.Update(t.Context(), tx, identity.Root(), "User", "rob@example.com",
			map[string]any{"roles": []any{map[string]any{"role": "System Manager"}}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if caller, err = tenant.Auth.Authenticate(t.Context(), r); err != nil || !caller.HasRole(identity.SystemManager) || !caller.Desk {
		t.Errorf("after a role was given: %+v, %v", caller, err)
	}

	// No document shows anything of the secret.
	err = tenant.Store.Read(t.Context(), func(tx document.Tx) error {
		text, err := tenant.Documents.AppendDocument(t.Context(), tx, identity.Root(), nil, "User", "rob@example.com", document.ReadOptions{})
		if strings.Contains(string(text), "hmac1") || strings.Contains(string(text), keys.Secret) {
			t.Errorf("the document shows the secret: %s", text)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
