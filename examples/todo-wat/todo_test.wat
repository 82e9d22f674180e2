;; Tests of the plugin, on a real site: armature plugin test. A module of its own,
;; whose exports test.* are the tests; ../../sdk/abi/abi.md has armature1_test.
(module
  (import "armature1" "throw" (func $throw (param i32 i32 i32)))
  (import "armature1" "take" (func $take (param i32 i32) (result i32)))
  (import "armature1" "doc_insert" (func $doc_insert (param i32 i32 i32 i32) (result i32)))
  (import "armature1_test" "call" (func $call (param i32 i32 i32 i32) (result i32)))

  (memory (export "memory") 1)

  (data (i32.const 0) "{\"doc\":{\"doctype\":\"ToDo\",\"description\":\"milk\"}}")              ;; 47
  (data (i32.const 64) "\"name\":\"")                                                           ;; 8
  (data (i32.const 80) "{\"method\":\"acme.todo.close\",\"args\":{\"name\":\"")                ;; 44
  (data (i32.const 128) "\"}}")                                                                 ;; 3
  (data (i32.const 136) "\"status\":\"Closed\"")                                                ;; 17
  (data (i32.const 160) "{\"method\":\"acme.todo.close\",\"args\":{\"name\":\"T9\"}}")          ;; 49
  (data (i32.const 224) "ToDo T9 not found")                                                    ;; 17
  (data (i32.const 256) "{\"method\":\"acme.todo.echo\",\"args\":{\"text\":\"Zo\c3\ab\"}}")    ;; 50
  (data (i32.const 320) "{\"result\":{\"text\":\"Zo\c3\ab\"}}")                                 ;; 26
  (data (i32.const 352) "{\"method\":\"acme.todo.summary\",\"verb\":\"GET\"}")                  ;; 43
  (data (i32.const 400) "\"total\":1,\"by_status\":{\"Open\":1}")                               ;; 32
  (data (i32.const 448) "{\"exc_type\":\"AssertionError\",\"message\":\"the answer is another\"}") ;; 63

  ;; Requests are put together at 1024, and answers are at 4096.

  ;; $expect fails the test, unless what it is given holds.
  (func $expect (param $holds i32)
    (if (i32.eqz (local.get $holds))
      (then (call $throw (i32.const 2) (i32.const 448) (i32.const 63)))))

  ;; $find is where text is in the answer of n bytes; 0 if it is not.
  (func $find (param $p i32) (param $len i32) (param $n i32) (result i32)
    (local $at i32) (local $i i32)
    (local.set $at (i32.const 4096))
    (block $none
      (loop $next
        (br_if $none (i32.gt_u (i32.add (local.get $at) (local.get $len)) (i32.add (i32.const 4096) (local.get $n))))
        (local.set $i (i32.const 0))
        (block $other
          (loop $same
            (br_if $other (i32.ne (i32.load8_u (i32.add (local.get $at) (local.get $i)))
                                  (i32.load8_u (i32.add (local.get $p) (local.get $i)))))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $same (i32.lt_u (local.get $i) (local.get $len))))
          (return (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (i32.const 0))

  ;; $put writes n bytes behind what has been written, and returns its new end.
  (func $put (param $end i32) (param $p i32) (param $n i32) (result i32)
    (memory.copy (local.get $end) (local.get $p) (local.get $n))
    (i32.add (local.get $end) (local.get $n)))

  (func (export "test.closes") (param i32)
    (local $n i32) (local $name i32) (local $end i32)
    (local.set $n (call $doc_insert (i32.const 0) (i32.const 47) (i32.const 4096) (i32.const 60000)))
    (local.set $name (i32.add (call $find (i32.const 64) (i32.const 8) (local.get $n)) (i32.const 8)))
    (local.set $end (call $put (i32.const 1024) (i32.const 80) (i32.const 44)))
    (local.set $end (call $put (local.get $end) (local.get $name) (i32.const 10)))
    (local.set $end (call $put (local.get $end) (i32.const 128) (i32.const 3)))
    (local.set $n (call $call (i32.const 1024) (i32.sub (local.get $end) (i32.const 1024)) (i32.const 4096) (i32.const 60000)))
    (call $expect (call $find (i32.const 136) (i32.const 17) (local.get $n))))

  ;; An error is minus its kind, of which 5 is NotFound, and its text is taken.
  (func (export "test.close_of_nothing") (param i32)
    (call $expect (i32.eq (call $call (i32.const 160) (i32.const 49) (i32.const 4096) (i32.const 60000)) (i32.const -5)))
    (call $expect (call $find (i32.const 224) (i32.const 17) (call $take (i32.const 4096) (i32.const 60000)))))

  (func (export "test.echoes") (param i32)
    (call $expect (i32.eq (call $call (i32.const 256) (i32.const 50) (i32.const 4096) (i32.const 60000)) (i32.const 26)))
    (call $expect (i32.eq (call $find (i32.const 320) (i32.const 26) (i32.const 26)) (i32.const 4096))))

  (func (export "test.sums_up") (param i32)
    (drop (call $doc_insert (i32.const 0) (i32.const 47) (i32.const 4096) (i32.const 60000)))
    (call $expect (call $find (i32.const 400) (i32.const 32)
      (call $call (i32.const 352) (i32.const 43) (i32.const 4096) (i32.const 60000))))))
