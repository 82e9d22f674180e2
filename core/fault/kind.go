package fault

import "net/http"

// Kind is the small number by which the platform's layers speak of an error.
// It crosses the WebAssembly boundary (a host call returns -Kind), so the list
// is append-only: never reorder, never reuse.
type Kind uint8

// The kinds. Each has one HTTP status and one default exc_type.
const (
	Internal         Kind = 1  // a bug or a broken dependency; the message is not shown
	Validation       Kind = 2  // the request is understood and refused by a rule
	Authentication   Kind = 3  // credentials were sent and are wrong
	Permission       Kind = 4  // the caller may not do this
	NotFound         Kind = 5  // no such thing, or none this caller may know of
	Conflict         Kind = 6  // the name is taken
	Gone             Kind = 7  // a link that is past its use
	TooLarge         Kind = 8  // the body is over the limit
	UnsupportedMedia Kind = 9  // a content type the endpoint does not read
	TooManyRequests  Kind = 10 // a budget or a count is used up
	Unavailable      Kind = 11 // try again later: draining, read-only, database away
	BadRequest       Kind = 12 // the request itself is malformed
	Timeout          Kind = 13 // the work took longer than its limit
	NotImplemented   Kind = 14 // the server cannot do this as configured
	MethodNotAllowed Kind = 15 // a known path without this HTTP verb
	Exhausted        Kind = 16 // a guest used up a limit other than time
	Trap             Kind = 17 // a guest died: unreachable, out of bounds, bad ABI use
)

type kindInfo struct {
	status  int
	excType string
}

var kinds = [...]kindInfo{
	Internal:         {http.StatusInternalServerError, "InternalError"},
	Validation:       {http.StatusExpectationFailed, "ValidationError"},
	Authentication:   {http.StatusUnauthorized, "AuthenticationError"},
	Permission:       {http.StatusForbidden, "PermissionError"},
	NotFound:         {http.StatusNotFound, "DoesNotExistError"},
	Conflict:         {http.StatusConflict, "DuplicateEntryError"},
	Gone:             {http.StatusGone, "LinkExpired"},
	TooLarge:         {http.StatusRequestEntityTooLarge, "RequestEntityTooLargeError"},
	UnsupportedMedia: {http.StatusUnsupportedMediaType, "UnsupportedMediaType"},
	TooManyRequests:  {http.StatusTooManyRequests, "RateLimitExceededError"},
	Unavailable:      {http.StatusServiceUnavailable, "ServiceUnavailable"},
	BadRequest:       {http.StatusBadRequest, "BadRequestError"},
	Timeout:          {http.StatusGatewayTimeout, "TimeoutError"},
	NotImplemented:   {http.StatusNotImplemented, "NotImplementedError"},
	MethodNotAllowed: {http.StatusMethodNotAllowed, "MethodNotAllowedError"},
	Exhausted:        {http.StatusInternalServerError, "ResourceExhaustedError"},
	Trap:             {http.StatusInternalServerError, "PluginTrapError"},
}

// Valid reports whether k is one of the kinds above.
func (k Kind) Valid() bool { return k >= Internal && int(k) < len(kinds) }

// Status is the HTTP status of the kind; 500 for an unknown one.
func (k Kind) Status() int {
	if !k.Valid() {
		return http.StatusInternalServerError
	}
	return kinds[k].status
}

// ExcType is the exc_type used when an error names none.
func (k Kind) ExcType() string {
	if !k.Valid() {
		return kinds[Internal].excType
	}
	return kinds[k].excType
}

// Kinds lists every kind in numeric order, for tables that must cover them all.
func Kinds() []Kind {
	all := make([]Kind, 0, len(kinds)-1)
	for k := Internal; k.Valid(); k++ {
		all = append(all, k)
	}
	return all
}
