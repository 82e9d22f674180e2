package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"armature/core/fault"
)

// excMeanings say what every exc_type means to whoever gets it.
var excMeanings = map[string]string{
	"AttachmentLimitReached":                "The document has as many files as its DocType allows.",
	"AuthenticationError":                   "The credentials are wrong, or have ended.",
	"BadRequestError":                       "The request is malformed: its JSON, its form, a parameter.",
	"CSRFTokenError":                        "A request with a session cookie has no or another token in `X-Framework-CSRF-Token`, or comes from another site.",
	"CancelledLinkError":                    "A link leads to a document that is cancelled.",
	"CannotChangeConstantError":             "The field is set once, or by the platform alone.",
	"CannotCreateStandardDoctypeError":      "A DocType that is made at run time needs `custom` 1.",
	"CannotIndexedError":                    "Fields of that type have no index.",
	"CharacterLengthExceededError":          "The value is longer than the field allows.",
	"ConfirmationRequiredError":             "What an agent wants to write waits until its user has confirmed it in the browser, at `url`.",
	"ConnectionBrokenError":                 "The user's connection to another service has ended: connect again.",
	"DataError":                             "The list asks for something that there is not: a field, an operator, an order.",
	"DocstatusTransitionError":              "From draft to submitted to cancelled, and no other way.",
	"DoctypeLinkError":                      "A Link or Table field does not say to which DocType.",
	"DoesNotExistError":                     "There is no such document, DocType or method, or none that the caller may know of.",
	"DuplicateEntryError":                   "The name is taken.",
	"FileTypeNotAllowed":                    "The site's `allowed_file_extensions` does not have it.",
	"HiddenAndMandatoryWithoutDefaultError": "Nobody could fill in the field.",
	"IllegalMandatoryError":                 "A field of that type holds no value, so none can be required.",
	"InReadOnlyMode":                        "The site is read only for now.",
	"InsufficientStorageError":              "The disk of the server is full.",
	"InternalError":                         "A mistake on the server. The log has it, by the request's id.",
	"InvalidAuthorizationToken":             "The header `Authorization` cannot be read.",
	"InvalidEmailAddressError":              "The address is none, or not of one person.",
	"InvalidFieldNameError":                 "The name of a field is reserved or has characters that it cannot have.",
	"InvalidNameError":                      "The value is no name of a person or user.",
	"InvalidPhoneNumberError":               "The value is no telephone number.",
	"InvalidUUIDValue":                      "The name is no UUID, and the DocType is named by them.",
	"LinkExistsError":                       "Other documents link to this one.",
	"LinkExpired":                           "The link was used, or is too old.",
	"LinkValidationError":                   "A link leads to a document that does not exist.",
	"MandatoryError":                        "A required field has no value.",
	"MaxFileSizeReachedError":               "The file is larger than the site's `max_file_size`.",
	"MethodNotAllowedError":                 "The path exists, and not with this HTTP method.",
	"NameError":                             "The name is not possible for a document of the type, or the platform keeps it for itself.",
	"NonNegativeError":                      "The field takes no negative number.",
	"NonUniqueError":                        "The field cannot become unique: documents have the same value, or its type cannot be.",
	"NotConnectedError":                     "The user has not connected that service yet.",
	"NotImplementedError":                   "This server cannot do it as it is configured.",
	"OutgoingEmailError":                    "The mail server did not take a letter of a job: the job says why.",
	"OutgoingPausedError":                   "The site is a copy, which sends nothing until `armature site resume`.",
	"PageDoesNotExistError":                 "There is no page at the address.",
	"PermissionError":                       "The caller may not do this. Without credentials: log in first.",
	"PluginTrapError":                       "A plugin broke off. Nothing that it did is kept.",
	"PromiseNeverSettledError":              "A script waits for a promise that nothing settles.",
	"QuotaExceededError":                    "The site has as much as its operator lets it have.",
	"RateLimitExceededError":                "Too often or too much: calls, processing time, wrong passwords or codes. `Retry-After` says when to try again.",
	"RequestEntityTooLargeError":            "The body of the request is too large.",
	"ResourceExhaustedError":                "A plugin has used up its time, memory or another limit. Nothing that it did is kept.",
	"ResponseTooLargeError":                 "Ask for fewer rows or fields.",
	"FreshLoginRequired":                    "Log in again: this is done shortly after a login alone.",
	"SecondFactorEnrolmentRequired":         "A second factor is needed and the user has none: set one up with a browser.",
	"SecondFactorRequired":                  "The user logs in with a second factor: send its code as `otp` together with `usr` and `pwd`.",
	"UnknownAccountError":                   "The account elsewhere is nobody's here: its user connects it at `/app/accounts`.",
	"ServiceUnavailable":                    "Try again: the server starts, stops, or its database is away.",
	"SiteDatabaseMissingError":              "The database of the site is not there.",
	"SiteNewerError":                        "The data of the site was written by a newer program.",
	"Throttled":                             "Too many users were made within an hour.",
	"TimeoutError":                          "It took longer than it may.",
	"TimestampMismatchError":                "Somebody else has changed the document meanwhile: read it again.",
	"TypeError":                             "An argument of the method is missing or of another type.",
	"UniqueFieldnameError":                  "Two fields of the DocType have one name.",
	"UniqueValidationError":                 "Another document has the value, and the field is unique.",
	"UnsupportedMediaType":                  "The path reads no body of that content type.",
	"UpdateAfterSubmitError":                "The field is not changed once the document is submitted.",
	"ValidationError":                       "A rule refuses it; `message` says which.",
	"WrongOptionsDoctypeLinkError":          "A Link or Table field names a DocType that there is not, or no child table.",
}

// kindNames are the kinds by their names in the code.
var kindNames = map[string]fault.Kind{
	"Internal": fault.Internal, "Validation": fault.Validation, "Authentication": fault.Authentication, "Permission": fault.Permission,
	"NotFound": fault.NotFound, "Conflict": fault.Conflict, "Gone": fault.Gone, "TooLarge": fault.TooLarge, "UnsupportedMedia": fault.UnsupportedMedia,
	"TooManyRequests": fault.TooManyRequests, "Unavailable": fault.Unavailable, "BadRequest": fault.BadRequest, "Timeout": fault.Timeout,
	"NotImplemented": fault.NotImplemented, "MethodNotAllowed": fault.MethodNotAllowed, "Exhausted": fault.Exhausted, "Trap": fault.Trap,
}

// TestRefusedForTooMuch: who asks too often or for too much is told so by one exc_type
// everywhere; what the operator's quotas refuse is another thing.
func TestRefusedForTooMuch(t *testing.T) {
	found := excTypes(t, "../..")
	if !found["RateLimitExceededError"][http.StatusTooManyRequests] {
		t.Error("nothing is refused by RateLimitExceededError")
	}
	for name, statuses := range found {
		if statuses[http.StatusTooManyRequests] && name != "RateLimitExceededError" && name != fault.QuotaExceeded {
			t.Errorf("%s has status 429", name)
		}
	}
}

// excTypes are those that the code makes faults of, and their statuses: those of the
// kinds, and what stands as text, or as the name of a constant, where a fault is made.
func excTypes(t *testing.T, root string) map[string]map[int]bool {
	t.Helper()
	found := map[string]map[int]bool{}
	add := func(name string, kind fault.Kind) {
		if found[name] == nil {
			found[name] = map[int]bool{}
		}
		found[name][(&fault.Error{Kind: kind, Type: name}).Status()] = true
	}
	for _, k := range fault.Kinds() {
		add(k.ExcType(), k)
	}
	constants := map[string]string{}
	var files []*ast.File
	for _, top := range []string{"core", "runtime", "plugins", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "third_party") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			files = append(files, file)
			ast.Inspect(file, func(n ast.Node) bool {
				if v, ok := n.(*ast.ValueSpec); ok {
					for i, value := range v.Values {
						if text, ok := literal(value); ok && i < len(v.Names) {
							constants[v.Names[i].Name] = text
						}
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if kind, name, ok := faultOf(file.Name.Name, call, constants); ok {
					add(name, kind)
				}
			}
			return true
		})
	}
	return found
}

// faultOf reads the call of fault.New, Wrap or Invalid, as far as it says with which
// type.
func faultOf(pkg string, call *ast.CallExpr, constants map[string]string) (kind fault.Kind, name string, ok bool) {
	maker := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		if x, isName := f.X.(*ast.Ident); isName && x.Name == "fault" {
			maker = f.Sel.Name
		}
	case *ast.Ident:
		if pkg == "fault" {
			maker = f.Name
		}
	}
	at := 0
	switch maker {
	case "New", "Wrap":
		kind, ok = kindNames[nameOf(call.Args[0])]
		at = 1
	case "Invalid":
		kind, ok = fault.Validation, true
	}
	if !ok || len(call.Args) <= at {
		return 0, "", false
	}
	if name, ok = literal(call.Args[at]); !ok {
		name = constants[nameOf(call.Args[at])]
	}
	return kind, name, name != ""
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}
