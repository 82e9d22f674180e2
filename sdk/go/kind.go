package armature

// Kind is the number by which host and plugin speak of an error. The HTTP status
// follows from it.
type Kind uint8

// The kinds of ABI version 1.
const (
	KindInternal         Kind = 1  // 500: a bug; the message is logged, not shown
	KindValidation       Kind = 2  // 417: understood and refused by a rule
	KindAuthentication   Kind = 3  // 401: credentials are wrong
	KindPermission       Kind = 4  // 403: the caller may not do this
	KindNotFound         Kind = 5  // 404: no such thing for this caller
	KindConflict         Kind = 6  // 409: the name is taken
	KindGone             Kind = 7  // 410: past its use
	KindTooLarge         Kind = 8  // 413: over the limit
	KindUnsupportedMedia Kind = 9  // 415: a content type that is not read
	KindTooManyRequests  Kind = 10 // 429: a budget is used up
	KindUnavailable      Kind = 11 // 503: try again later
	KindBadRequest       Kind = 12 // 400: malformed
	KindTimeout          Kind = 13 // 504: took longer than its limit
	KindNotImplemented   Kind = 14 // 501: this server cannot do it
	KindMethodNotAllowed Kind = 15 // 405: a known path without this verb
	KindExhausted        Kind = 16 // 500: the plugin used up a limit other than time
	KindTrap             Kind = 17 // 500: the plugin died
)

var kindNames = [...]string{
	KindInternal:         "InternalError",
	KindValidation:       "ValidationError",
	KindAuthentication:   "AuthenticationError",
	KindPermission:       "PermissionError",
	KindNotFound:         "DoesNotExistError",
	KindConflict:         "DuplicateEntryError",
	KindGone:             "LinkExpired",
	KindTooLarge:         "RequestEntityTooLargeError",
	KindUnsupportedMedia: "UnsupportedMediaType",
	KindTooManyRequests:  "TooManyRequestsError",
	KindUnavailable:      "ServiceUnavailable",
	KindBadRequest:       "BadRequestError",
	KindTimeout:          "TimeoutError",
	KindNotImplemented:   "NotImplementedError",
	KindMethodNotAllowed: "MethodNotAllowedError",
	KindExhausted:        "ResourceExhaustedError",
	KindTrap:             "PluginTrapError",
}

// Valid reports whether k is one of the kinds above.
func (k Kind) Valid() bool { return k >= KindInternal && int(k) < len(kindNames) }

// String is the exc_type used when an error names none.
func (k Kind) String() string {
	if !k.Valid() {
		return kindNames[KindInternal]
	}
	return kindNames[k]
}
