// What the tests of the SDK call.
#include "armature.h"

// relay answers with the body of what it fetches.
AM_METHOD("acme.check.relay", relay) {
  am_str body = am_body(am_must(am_fetch(in)));
  return am_must(am_respond(200, am_null(), body));
}
