package file

import (
	"mime"
	"net/http"
	"strings"
)

// contentTypes are the types of the extensions we know. The system's own table
// is left out of it: it differs between machines, and what it says of a script
// decides whether a browser runs it.
var contentTypes = map[string]string{
	"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
	"avif": "image/avif", "bmp": "image/bmp", "ico": "image/x-icon", "tif": "image/tiff", "tiff": "image/tiff",
	"heic": "image/heic", "svg": "image/svg+xml",
	"pdf": "application/pdf", "zip": "application/zip", "gz": "application/gzip", "json": "application/json",
	"doc": "application/msword", "xls": "application/vnd.ms-excel", "ppt": "application/vnd.ms-powerpoint",
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"odt":  "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",
	"txt": "text/plain; charset=utf-8", "log": "text/plain; charset=utf-8", "md": "text/plain; charset=utf-8",
	"csv": "text/csv; charset=utf-8", "ics": "text/calendar; charset=utf-8", "vcf": "text/vcard; charset=utf-8",
	"mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/quicktime", "webm": "video/webm",
	"mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg", "wav": "audio/wav", "flac": "audio/flac",
	"woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
	"html": "text/html; charset=utf-8", "htm": "text/html; charset=utf-8", "xml": "text/xml; charset=utf-8",
	// Text, not script: with nosniff no page can load an upload as its code.
	"js": "text/plain; charset=utf-8", "mjs": "text/plain; charset=utf-8", "css": "text/plain; charset=utf-8",
}

func contentType(name string) string {
	if t := contentTypes[extension(name)]; t != "" {
		return t
	}
	return "application/octet-stream"
}

// saved are the extensions of what a browser would run or could be led to take
// for a page of ours: those of section 6.3 and their relatives.
var saved = map[string]bool{
	"svg": true, "svgz": true, "html": true, "htm": true, "xml": true, "xhtml": true, "xht": true, "shtml": true,
	"xsl": true, "xslt": true, "mht": true, "mhtml": true, "hta": true, "swf": true,
}

// setHeaders sets what a browser may do with the file: what is inside never
// acts with the session of whoever looks at it. Chrome shows no PDF in a
// sandbox; a PDF's scripts have no page to act on.
func setHeaders(h http.Header, name string, download bool) {
	media := contentType(name)
	h.Set("Content-Type", media)
	h.Set("X-Content-Type-Options", "nosniff")
	policy := "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"
	if media == "application/pdf" {
		policy += "; object-src 'self'"
	} else {
		policy = "sandbox; " + policy
	}
	h.Set("Content-Security-Policy", policy)
	way := "inline"
	if download || saved[extension(name)] {
		way = "attachment"
	}
	// FormatMediaType quotes, and encodes what is not ASCII (RFC 6266, RFC 8187).
	disposition := mime.FormatMediaType(way, map[string]string{"filename": name})
	if disposition == "" {
		disposition = way
	}
	h.Set("Content-Disposition", disposition)
}

// forEverybody are the extensions that Guests and users without the desk may
// upload (reference section 6.2).
var forEverybody = map[string]bool{
	"png": true, "jpg": true, "jpeg": true, "gif": true, "pdf": true, "doc": true, "docx": true, "xls": true,
	"xlsx": true, "odt": true, "ods": true, "txt": true, "mov": true, "mp4": true, "csv": true,
}

// fileType is the field file_type: the extension in upper case.
func fileType(name string) string { return strings.ToUpper(extension(name)) }
