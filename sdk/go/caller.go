package armature

import "slices"

// User is who is acting.
type User struct {
	Name     string // the user's id; "Guest" without credentials
	FullName string
	Roles    []string
}

// Has reports whether the user has the role.
func (u User) Has(role string) bool { return slices.Contains(u.Roles, role) }

// Caller returns the user on whose behalf the method runs.
func Caller() (User, error) {
	a, err := CallerGetRequest{}.Ask()
	return User{Name: a.User, FullName: a.FullName, Roles: a.Roles}, err
}
