// Package media says of a file what a browser is told of it, by its name alone.
package media

import (
	"mime"
	"path"
	"regexp"
	"strings"
)

// types are what frontends are made of. What the machine says of file names is asked
// only for others: it differs between machines.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".txt": "text/plain; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
	".json": "application/json", ".map": "application/json", ".webmanifest": "application/manifest+json",
	".xml": "application/xml", ".pdf": "application/pdf", ".wasm": "application/wasm",
	".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
	".webp": "image/webp", ".avif": "image/avif", ".ico": "image/x-icon",
	".woff": "font/woff", ".woff2": "font/woff2", ".ttf": "font/ttf", ".otf": "font/otf",
	".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".mp4": "video/mp4", ".webm": "video/webm",
}

// TypeOf is the media type of a file.
func TypeOf(name string) string {
	ext := strings.ToLower(path.Ext(name))
	if t := types[ext]; t != "" {
		return t
	}
	if t := mime.TypeByExtension(ext); t != "" {
		return t
	}
	return "application/octet-stream"
}

// hashed matches a name that its maker has put a hash of the content in, as bundlers do:
// index-BfjHm0Zc.js, app.3f9a1c2b.css.
var hashed = regexp.MustCompile(`[.-]([0-9A-Za-z_-]{8,})\.[0-9a-z]+$`)

// isHash tells a hash from a word: it has digits, or capitals in the middle.
var isHash = regexp.MustCompile(`[0-9]|[a-z_-][A-Z]`)

// CacheControl is how long a browser may keep a file without asking: for good what has
// another name when it changes, and everything else not at all.
func CacheControl(name string) string {
	if Keepable(name) {
		return "public, max-age=31536000, immutable"
	}
	return "no-cache"
}

// Keepable reports whether a file has another name when it changes.
func Keepable(name string) bool {
	m := hashed.FindStringSubmatch(path.Base(name))
	return m != nil && isHash.MatchString(m[1]) && path.Ext(name) != ".html"
}
