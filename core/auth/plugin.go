package auth

import (
	"slices"
	"strings"

	"armature/core/document"
)

// pluginName is the DocType that says which plugins a site has and what each was
// given. Who changes that changes what all their callers can do.
const pluginName = "Plugin"

// pluginActivity is what was done to a plugin: installed, removed, another version,
// switched off or on, grants approved or taken back. What its record says besides,
// how often it was called or what it failed of, is no entry. There are as many
// entries as it takes to name every grant: none is cut off.
func pluginActivity(ev *document.Event) []Activity {
	doc := ev.Doc
	act := Activity{Operation: "Plugins", User: ev.Caller.User, Subject: "Plugin " + doc.Name()}
	if ev.Name == document.AfterDelete {
		act.Subject += " was removed"
		return []Activity{act}
	}
	before, done := changesOf(ev)
	now, then := lines(doc.Text("grants_approved")), lines(before("grants_approved"))
	done = append(done, naming("approved ", act.Subject, without(now, then))...)
	less := without(then, now)
	for _, entry := range without(lines(doc.Text("grants_revoked")), lines(before("grants_revoked"))) {
		if !slices.Contains(less, entry) { // it came with the folder the plugin lies in
			less = append(less, entry)
		}
	}
	done = append(done, naming("taken back ", act.Subject, less)...)
	var all []Activity
	for _, subject := range joined(act.Subject+": ", done, "; ") {
		entry := act
		entry.Subject = subject
		all = append(all, entry)
	}
	return all
}

// naming are phrases that name all entries, none of them too long for a subject.
func naming(word, about string, entries []string) []string {
	if len(entries) == 0 {
		return nil
	}
	phrases := joined(about+": "+word, entries, ", ")
	for i, phrase := range phrases {
		phrases[i] = strings.TrimPrefix(phrase, about+": ")
	}
	return phrases
}

// joined puts parts after a beginning, into as few texts as keep to what an entry
// holds.
func joined(beginning string, parts []string, between string) (texts []string) {
	for _, part := range parts {
		if last := len(texts) - 1; last >= 0 && len(texts[last])+len(between)+len(part) <= maxData {
			texts[last] += between + part
		} else {
			texts = append(texts, beginning+part)
		}
	}
	return texts
}

// changesOf are the changes of a plugin's record in words, its grants aside, and
// what the record said before.
func changesOf(ev *document.Event) (before func(field string) string, done []string) {
	doc := ev.Doc
	before = func(string) string { return "" }
	if ev.Before != nil {
		before = ev.Before.Text
	}
	if ev.Before == nil {
		done = append(done, "installed")
	}
	changed := func(field, words string) {
		if now := doc.Text(field); now != "" && now != before(field) {
			done = append(done, words+now)
		}
	}
	if doc.Text("hash") != before("hash") && doc.Text("hash") != "" {
		done = append(done, "serves version "+doc.Text("version"))
	}
	if doc.Text("pending_hash") != before("pending_hash") && doc.Text("pending_hash") != "" {
		done = append(done, "version "+doc.Text("pending_version")+" waits for approval")
	}
	if was, is := before("status") == "Disabled", doc.Text("status") == "Disabled"; was != is {
		done = append(done, map[bool]string{true: "disabled", false: "enabled"}[is])
	}
	if was, is := before("status") == "Removed", doc.Text("status") == "Removed"; was != is {
		done = append(done, map[bool]string{true: "left its folder", false: "is in its folder again"}[is])
	}
	if was, by := signer(before("publisher")), signer(doc.Text("publisher")); before("hash") != "" && by != was {
		done = append(done, "signed by "+by)
	}
	if before("pending_hash") != "" && doc.Text("pending_hash") == "" && doc.Text("hash") == before("hash") {
		done = append(done, "version "+before("pending_version")+" was put aside")
	}
	changed("run_as", "runs as ")
	return before, done
}

// signer is who has signed a version, in words.
func signer(key string) string {
	if key == "" || key == "none" {
		return "nobody"
	}
	return key
}

// lines are the entries of a list, one to a line.
func lines(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == '\n' })
}

// without is what of one list is not in another.
func without(list, other []string) (rest []string) {
	for _, entry := range list {
		if !slices.Contains(other, entry) {
			rest = append(rest, entry)
		}
	}
	return rest
}
