// Package mcp lets programs that act for a person, agents above all, use a site by
// the Model Context Protocol at /mcp: its documents and methods are tools, documents
// and files are resources (specification 2026-07-28, and those of 2024-11-05 to
// 2025-11-25).
//
// A tool is one thing that can be asked for. An agent is whoever calls it, with an
// access token that was given out for /mcp or with an API key. What an agent gets is
// what core/httpapi answers the same caller: the package asks the one door,
// core/document, and core/method, and decides no right itself.
//
// The protocol is the official SDK's. Each request is a session of its own, so any
// process answers it.
package mcp
