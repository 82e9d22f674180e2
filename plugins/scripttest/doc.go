// Package scripttest runs the tests that stand beside a script: shop.test.ts
// beside shop.ts.
//
// A test is run by the interpreter that runs scripts on a server, with a host in
// place of the server that the test can look into. That host is JavaScript, in
// stub/, and lies in the same guest as the test and the script, so a test answers
// for the server with a plain function, and nothing has to cross into another guest
// and back.
//
// A file is read and evaluated once; each test in it is one call, which begins as
// calls do: with the state after loading. A test therefore sees nothing of another
// one, and is held by limits of the kind that hold calls.
package scripttest
