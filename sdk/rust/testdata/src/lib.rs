//! What the tests of the SDK call, and those tests: armature plugin test.

use armature::{export, object, Object, Result};

export! {"acme.check.relay" => relay}

/// Answers with the body of what it fetches.
fn relay(args: Object) -> Result<()> {
    armature::respond(200, Object::default(), armature::fetch(args)?.body()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use armature::testing::{requests::Call, Site};
    use armature::{requests, Kind, Query, Value};

    #[test]
    fn time() {
        let site = Site::new();
        site.clock(1767323045000000);
        assert_eq!(armature::now(), 1767323045000000);
        assert_eq!(armature::insert("ToDo", object! {"description": "x"}).unwrap().text("date"), "2026-01-02");
    }

    #[test]
    fn randomness() {
        let site = Site::new();
        let drawn = |seed| {
            let mut bytes = [0; 16];
            site.seed(seed);
            armature::random(&mut bytes);
            bytes
        };
        assert!(drawn(1) == drawn(1) && drawn(1) != drawn(2));
    }

    #[test]
    fn caller() {
        let site = Site::new();
        assert_eq!(armature::caller().unwrap().name, "Administrator");
        site.act_as("zoe@example.com", &["Blogger"]);
        let zoe = armature::caller().unwrap();
        assert!(zoe.name == "zoe@example.com" && zoe.roles.iter().any(|r| r == "Blogger"));
        site.act_as("Guest", &[]);
        assert_eq!(armature::get("User", "Administrator").unwrap_err().kind, Kind::Permission);
    }

    #[test]
    fn settings() {
        let site = Site::new();
        assert_eq!(armature::config("limit").unwrap(), Value::Null);
        site.configure("limit", 5);
        assert_eq!(armature::config("limit").unwrap().as_int(), 5);
    }

    #[test]
    fn network() {
        let site = Site::new();
        let mut answer = object! {"status": 404};
        answer.set_body(b"\xff\x00");
        site.answer("https://x.example/", answer);
        let call = Call { method: "acme.check.relay".into(), args: object! {"url": "https://x.example/"}, ..Call::default() };
        let told = site.send(call.clone()).unwrap();
        assert_eq!(told.reply.into_object().body().unwrap(), b"\xff\x00");
        assert_eq!(site.send(call.clone()).unwrap_err().kind, Kind::Unavailable);
        site.refuse("https://x.example/", armature::Error::denied("No"));
        assert_eq!(site.send(call).unwrap_err().message, "No");
        assert_eq!(site.fetched().len(), 3);
    }

    // What may be missing of a request is told from zero.
    #[test]
    fn what_is_asked() {
        let _site = Site::new();
        for _ in 0..3 {
            requests::DocInsert { doc: object! {"doctype": "ToDo", "description": "x"} }.ask().unwrap();
        }
        let list = |limit| requests::DocList { doctype: "ToDo".into(), limit_page_length: limit, ..Default::default() }.ask().unwrap().len();
        assert_eq!((list(Some(2)), list(Some(0)), list(None)), (2, 3, 3));
        assert_eq!(Query::of("ToDo").or_filter("status", "=", "Closed").count().unwrap(), 0);
        assert_eq!(requests::CallerGet {}.ask().unwrap().user, "Administrator");
    }
}
