;; The todo plugin in WebAssembly text: four methods over the ToDo DocType, with
;; nothing between them and the contract, sdk/abi/abi.md.
;;
;; JSON is not decoded. A value is the piece of text it stands on, (begin, end), and
;; a request is put together from such pieces, so what is not looked at is passed
;; on as it came. Memory is taken and never given back: the next call starts from
;; the state after loading.
(module
  (import "armature1" "input" (func $input (param i32 i32) (result i32)))
  (import "armature1" "output" (func $output (param i32 i32)))
  (import "armature1" "throw" (func $throw (param i32 i32 i32)))
  (import "armature1" "take" (func $take (param i32 i32) (result i32)))
  (import "armature1" "doc_get" (func $doc_get (type $capability)))
  (import "armature1" "doc_list" (func $doc_list (type $capability)))
  (import "armature1" "doc_count" (func $doc_count (type $capability)))
  (import "armature1" "doc_update" (func $doc_update (type $capability)))
  (import "armature1" "caller_get" (func $caller_get (type $capability)))
  (type $capability (func (param i32 i32 i32 i32) (result i32)))

  (memory (export "memory") 1)

  ;; Capabilities by number, for $ask.
  (table funcref (elem $doc_get $doc_list $doc_count $doc_update $caller_get))

  ;; Names of members, with their quotes, and the constant parts of requests and
  ;; answers.
  (data (i32.const 0) "\"name\"")       ;; 6
  (data (i32.const 8) "\"status\"")     ;; 8
  (data (i32.const 16) "\"Closed\"")    ;; 8
  (data (i32.const 24) "\"user\"")      ;; 6
  (data (i32.const 32) "{\"doctype\":\"ToDo\",\"name\":")       ;; 25
  (data (i32.const 64) ",\"doc\":{\"status\":\"Closed\"}}")     ;; 27
  (data (i32.const 96) "{\"doctype\":\"ToDo\"}")                ;; 18
  (data (i32.const 128) "{\"doctype\":\"ToDo\",\"fields\":[\"status\"],\"limit_page_length\":0}") ;; 60
  (data (i32.const 192) "{\"user\":")          ;; 8
  (data (i32.const 200) ",\"total\":")         ;; 9
  (data (i32.const 216) ",\"by_status\":{")    ;; 14
  (data (i32.const 232) "{}")
  (data (i32.const 234) ":,")

  ;; From 256 on: the statuses of $summary, 12 bytes each: begin, end, how many.
  (global $free (mut i32) (i32.const 1024))

  ;; $alloc takes n bytes. Without memory left the call ends as a trap.
  (func $alloc (param $n i32) (result i32)
    (local $p i32)
    (local.set $p (global.get $free))
    (global.set $free (i32.add (local.get $p) (local.get $n)))
    (if (i32.lt_u (global.get $free) (local.get $p)) (then unreachable))
    (if (i32.gt_u (global.get $free) (i32.shl (memory.size) (i32.const 16)))
      (then
        (if (i32.eq
              (memory.grow (i32.add (i32.shr_u (i32.sub (global.get $free) (i32.shl (memory.size) (i32.const 16))) (i32.const 16)) (i32.const 1)))
              (i32.const -1))
          (then unreachable))))
    (local.get $p))

  ;; $put appends text to what is being written, which is always the last that was
  ;; taken: whoever writes remembers where $free was.
  (func $put (param $p i32) (param $end i32)
    (local $n i32)
    (local.set $n (i32.sub (local.get $end) (local.get $p)))
    (memory.copy (call $alloc (local.get $n)) (local.get $p) (local.get $n)))

  (func $put_number (param $n i32)
    (if (i32.ge_u (local.get $n) (i32.const 10))
      (then (call $put_number (i32.div_u (local.get $n) (i32.const 10)))))
    (i32.store8 (call $alloc (i32.const 1)) (i32.add (i32.const 48) (i32.rem_u (local.get $n) (i32.const 10)))))

  ;; $arguments is the input of n bytes.
  (func $arguments (param $n i32) (result i32 i32)
    (local $p i32)
    (drop (call $input (local.tee $p (call $alloc (local.get $n))) (local.get $n)))
    (local.get $p)
    (i32.add (local.get $p) (local.get $n)))

  ;; $ask sends what has been written since $request and returns the answer. An error
  ;; goes on to the client as it came.
  (func $ask (param $request i32) (param $which i32) (result i32 i32)
    (local $n i32) (local $length i32) (local $p i32)
    (local.set $n
      (call_indirect (type $capability)
        (local.get $request) (i32.sub (global.get $free) (local.get $request)) (i32.const 0) (i32.const 0)
        (local.get $which)))
    ;; Without room for it nothing of the answer has been delivered; take says how
    ;; long it is, and the second time gives all of it.
    (local.set $length (call $take (i32.const 0) (i32.const 0)))
    (local.set $p (call $alloc (local.get $length)))
    (drop (call $take (local.get $p) (local.get $length)))
    (if (i32.lt_s (local.get $n) (i32.const 0))
      (then (call $throw (i32.sub (i32.const 0) (local.get $n)) (local.get $p) (local.get $length))))
    (local.get $p)
    (i32.add (local.get $p) (local.get $length)))

  (func $same (param $a i32) (param $a_end i32) (param $b i32) (param $b_end i32) (result i32)
    (if (i32.ne (i32.sub (local.get $a_end) (local.get $a)) (i32.sub (local.get $b_end) (local.get $b)))
      (then (return (i32.const 0))))
    (loop $next
      (if (i32.eq (local.get $a) (local.get $a_end)) (then (return (i32.const 1))))
      (if (i32.eq (i32.load8_u (local.get $a)) (i32.load8_u (local.get $b)))
        (then
          (local.set $a (i32.add (local.get $a) (i32.const 1)))
          (local.set $b (i32.add (local.get $b) (i32.const 1)))
          (br $next))))
    (i32.const 0))

  ;; $blank is where a value begins, behind white space, commas and colons.
  (func $blank (param $p i32) (param $end i32) (result i32)
    (local $c i32)
    (loop $next
      (if (i32.lt_u (local.get $p) (local.get $end))
        (then
          (local.set $c (i32.load8_u (local.get $p)))
          (if (i32.or (i32.le_u (local.get $c) (i32.const 32))
                (i32.or (i32.eq (local.get $c) (i32.const 44)) (i32.eq (local.get $c) (i32.const 58))))
            (then
              (local.set $p (i32.add (local.get $p) (i32.const 1)))
              (br $next))))))
    (local.get $p))

  ;; $skip is where the value at p ends. The host sends valid JSON only.
  (func $skip (param $p i32) (param $end i32) (result i32)
    (local $c i32) (local $depth i32)
    (loop $next
      (if (i32.ge_u (local.get $p) (local.get $end)) (then (return (local.get $end))))
      (local.set $c (i32.load8_u (local.get $p)))
      (if (i32.eq (local.get $c) (i32.const 34)) ;; text
        (then
          (loop $text
            (local.set $p (i32.add (local.get $p) (i32.const 1)))
            (local.set $c (i32.load8_u (local.get $p)))
            (if (i32.eq (local.get $c) (i32.const 92)) ;; an escape: what follows is not looked at
              (then (local.set $p (i32.add (local.get $p) (i32.const 1)))))
            (br_if $text (i32.ne (local.get $c) (i32.const 34))))
          (local.set $p (i32.add (local.get $p) (i32.const 1)))
          (br_if $next (local.get $depth))
          (return (local.get $p))))
      ;; { and [ differ from } and ] by 2, and { from [ by 32.
      (if (i32.eq (i32.or (local.get $c) (i32.const 32)) (i32.const 123))
        (then (local.set $depth (i32.add (local.get $depth) (i32.const 1)))))
      (if (i32.eq (i32.or (local.get $c) (i32.const 32)) (i32.const 125))
        (then
          (if (i32.eqz (local.get $depth)) (then (return (local.get $p)))) ;; of what the value is in
          (local.set $depth (i32.sub (local.get $depth) (i32.const 1)))
          (if (i32.eqz (local.get $depth)) (then (return (i32.add (local.get $p) (i32.const 1)))))))
      (if (i32.and (i32.eqz (local.get $depth))
            (i32.or (i32.le_u (local.get $c) (i32.const 32))
              (i32.or (i32.eq (local.get $c) (i32.const 44)) (i32.eq (local.get $c) (i32.const 58)))))
        (then (return (local.get $p))))
      (local.set $p (i32.add (local.get $p) (i32.const 1)))
      (br $next))
    unreachable)

  ;; $member is the value of an object's member; its name comes with quotes. One that
  ;; is absent is empty.
  (func $member (param $p i32) (param $end i32) (param $name i32) (param $name_end i32) (result i32 i32)
    (local $key i32) (local $key_end i32)
    (local.set $p (i32.add (local.get $p) (i32.const 1)))
    (local.set $end (i32.sub (local.get $end) (i32.const 1)))
    (loop $next
      (local.set $key (call $blank (local.get $p) (local.get $end)))
      (if (i32.ge_u (local.get $key) (local.get $end)) (then (return (i32.const 0) (i32.const 0))))
      (local.set $key_end (call $skip (local.get $key) (local.get $end)))
      (local.set $p (call $blank (local.get $key_end) (local.get $end)))
      (if (call $same (local.get $key) (local.get $key_end) (local.get $name) (local.get $name_end))
        (then (return (local.get $p) (call $skip (local.get $p) (local.get $end)))))
      (local.set $p (call $skip (local.get $p) (local.get $end)))
      (br $next))
    unreachable)

  ;; $answer is the end of a method: a value is its result.
  (func $answer (param $p i32) (param $end i32)
    (call $output (local.get $p) (i32.sub (local.get $end) (local.get $p))))

  ;; $todo is the beginning of a request for a ToDo, up to its name.
  (func $todo (param $name i32) (param $name_end i32) (result i32)
    (global.get $free)
    (call $put (i32.const 32) (i32.const 57))
    (call $put (local.get $name) (local.get $name_end)))

  (func $get (param $name i32) (param $name_end i32) (result i32 i32)
    (call $todo (local.get $name) (local.get $name_end))
    (i32.store8 (call $alloc (i32.const 1)) (i32.const 125))
    (i32.const 0)
    (call $ask))

  ;; close sets a ToDo's status to Closed and returns the document.
  (func (export "acme.todo.close") (param $n i32)
    (local $name i32) (local $name_end i32) (local $p i32) (local $end i32)
    (call $member (call $arguments (local.get $n)) (i32.const 0) (i32.const 6))
    (local.set $name_end)
    (local.set $name)
    (call $get (local.get $name) (local.get $name_end))
    (local.set $end)
    (local.set $p)
    (if (i32.eqz (call $same (call $member (local.get $p) (local.get $end) (i32.const 8) (i32.const 16)) (i32.const 16) (i32.const 24)))
      (then
        (call $todo (local.get $name) (local.get $name_end))
        (call $put (i32.const 64) (i32.const 91))
        (i32.const 3)
        (call $ask)
        (local.set $end)
        (local.set $p)))
    (call $answer (local.get $p) (local.get $end)))

  ;; show returns a ToDo as the caller may see it.
  (func (export "acme.todo.show") (param $n i32)
    (call $answer (call $get (call $member (call $arguments (local.get $n)) (i32.const 0) (i32.const 6)))))

  ;; summary counts the caller's ToDos by status.
  (func (export "acme.todo.summary") (param $n i32)
    (local $rows i32) (local $end i32) (local $row_end i32) (local $status i32) (local $status_end i32)
    (local $used i32) (local $at i32) (local $user i32) (local $user_end i32) (local $total i32) (local $total_end i32)
    (local $out i32)
    (call $ask (call $constant (i32.const 128) (i32.const 188)) (i32.const 1))
    (local.set $end)
    (local.set $rows)
    (local.set $end (i32.sub (local.get $end) (i32.const 1)))
    (local.set $rows (i32.add (local.get $rows) (i32.const 1)))
    (local.set $used (i32.const 256))
    (block $done
      (loop $next
        (local.set $rows (call $blank (local.get $rows) (local.get $end)))
        (br_if $done (i32.ge_u (local.get $rows) (local.get $end)))
        (local.set $row_end (call $skip (local.get $rows) (local.get $end)))
        (call $member (local.get $rows) (local.get $row_end) (i32.const 8) (i32.const 16))
        (local.set $status_end)
        (local.set $status)
        (local.set $rows (local.get $row_end))
        (local.set $at (i32.const 256))
        (block $found
          (loop $look
            (if (i32.lt_u (local.get $at) (local.get $used))
              (then
                (br_if $found (call $same (i32.load (local.get $at)) (i32.load offset=4 (local.get $at)) (local.get $status) (local.get $status_end)))
                (local.set $at (i32.add (local.get $at) (i32.const 12)))
                (br $look))))
          (local.set $used (i32.add (local.get $used) (i32.const 12)))
          (if (i32.gt_u (local.get $used) (i32.const 1024)) (then unreachable)) ;; ToDo has three statuses
          (i32.store (local.get $at) (local.get $status))
          (i32.store offset=4 (local.get $at) (local.get $status_end)))
        (i32.store offset=8 (local.get $at) (i32.add (i32.load offset=8 (local.get $at)) (i32.const 1)))
        (br $next)))

    (call $ask (call $constant (i32.const 96) (i32.const 114)) (i32.const 2))
    (local.set $total_end)
    (local.set $total)
    (call $member (call $ask (call $constant (i32.const 232) (i32.const 234)) (i32.const 4)) (i32.const 24) (i32.const 30))
    (local.set $user_end)
    (local.set $user)

    (local.set $out (global.get $free))
    (call $put (i32.const 192) (i32.const 200))
    (call $put (local.get $user) (local.get $user_end))
    (call $put (i32.const 200) (i32.const 209))
    (call $put (local.get $total) (local.get $total_end))
    (call $put (i32.const 216) (i32.const 230))
    (local.set $at (i32.const 256))
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $used))
        (then
          (if (i32.gt_u (local.get $at) (i32.const 256)) (then (call $put (i32.const 235) (i32.const 236))))
          (call $put (i32.load (local.get $at)) (i32.load offset=4 (local.get $at)))
          (call $put (i32.const 234) (i32.const 235))
          (call $put_number (i32.load offset=8 (local.get $at)))
          (local.set $at (i32.add (local.get $at) (i32.const 12)))
          (br $next))))
    (call $put (i32.const 233) (i32.const 234))
    (call $put (i32.const 233) (i32.const 234))
    (call $answer (local.get $out) (global.get $free)))

  ;; $constant writes a request that is always the same.
  (func $constant (param $p i32) (param $end i32) (result i32)
    (global.get $free)
    (call $put (local.get $p) (local.get $end)))

  ;; echo returns its arguments.
  (func (export "acme.todo.echo") (param $n i32)
    (call $answer (call $arguments (local.get $n)))))
