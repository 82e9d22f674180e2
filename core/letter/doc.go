// Package letter sends letters of a site as jobs: what they say, from templates, what is
// attached, as whom. How a letter is handed in is core/mail.
package letter
