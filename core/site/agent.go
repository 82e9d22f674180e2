package site

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// MCP reports whether the site has an MCP server (key "mcp"). It has one unless it says
// otherwise.
func (c *Config) MCP() bool { return !c.noMCP }

// MCPTools are the methods and DocTypes that have a tool of their own there. The caller
// must not change the list.
func (c *Config) MCPTools() []string { return c.mcpTools }

func readMCP(c *Config, value json.RawMessage) error {
	switch string(value) {
	case "true", "1":
		c.noMCP = false
	case "false", "0":
		c.noMCP = true
	default:
		return fmt.Errorf("must be true or false")
	}
	return nil
}

// maxMCPTools is how many tools the setting may name: every agent reads all of them.
const maxMCPTools = 30

func readMCPTools(c *Config, value json.RawMessage) error {
	var one string
	c.mcpTools = nil
	if json.Unmarshal(value, &one) == nil {
		c.mcpTools = []string{one}
	} else if err := json.Unmarshal(value, &c.mcpTools); err != nil {
		return fmt.Errorf("must be a list of paths of methods and names of DocTypes")
	}
	if len(c.mcpTools) > maxMCPTools {
		return fmt.Errorf("names %d tools, of %d at most: agents read all of them before they do anything", len(c.mcpTools), maxMCPTools)
	}
	return nil
}

// Which writes of agents wait for a confirmation.
const (
	ConfirmNone   = "none"
	ConfirmTokens = "tokens" // by a token that a person has let an application have
	ConfirmAll    = "all"
)

// MCPConfirm says which writes of agents wait for a confirmation (key "mcp_confirm").
func (c *Config) MCPConfirm() string { return cmp.Or(c.mcpConfirm, ConfirmTokens) }

func readMCPConfirm(c *Config, value json.RawMessage) error {
	var text string
	if json.Unmarshal(value, &text) != nil || text != ConfirmNone && text != ConfirmTokens && text != ConfirmAll {
		return fmt.Errorf("must be tokens, all or none")
	}
	c.mcpConfirm = text
	return nil
}
