package web

import (
	"net/http"
	"strconv"
)

// errorView is what an error page shows.
type errorView struct {
	Heading  string
	Text     []string
	Link     string // a way on; empty: none
	LinkText string
	Small    string
}

// ServeError shows a failed request to a person. The message may be shown and is
// empty where there is nothing to say; the id is the one in the server's log.
func (p *Pages) ServeError(w http.ResponseWriter, status int, message, id string) error {
	v := errorView{Heading: heading(status), Link: "/", LinkText: "Go to the start page", Small: "Error " + strconv.Itoa(status) + ", request " + id}
	if message != "" && message != v.Heading {
		v.Text = []string{message}
	}
	return p.show(w, status, "error", view{Title: v.Heading, Body: v})
}

// heading says in plain words what a status means.
func heading(status int) string {
	switch status {
	case http.StatusNotFound:
		return "There is no such page"
	case http.StatusForbidden:
		return "You may not see this"
	case http.StatusUnauthorized:
		return "You need to log in"
	case http.StatusTooManyRequests:
		return "Too many requests"
	case http.StatusServiceUnavailable:
		return "Not available at the moment"
	}
	if status >= 500 {
		return "Something went wrong"
	}
	return "That did not work"
}
