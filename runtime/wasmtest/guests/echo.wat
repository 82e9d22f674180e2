;; The ordinary guest: takes its input, asks the host for a document, answers
;; with both. Written as a C compiler would write it, with static buffers.
(module
  (import "host" "input" (func $input (param i32 i32) (result i32)))
  (import "host" "output" (func $output (param i32 i32)))
  (import "host" "doc" (func $doc (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (global $count (mut i32) (i32.const 0))
  (data (i32.const 1024) "{\"ok\":true,\"data\":")

  (func $echo (export "echo") (param $n i32) (local $m i32)
    (drop (call $input (i32.const 4096) (i32.const 4096)))
    (call $copy (i32.const 8192) (i32.const 1024) (i32.const 18))
    (local.set $m (call $doc (i32.const 4096) (local.get $n) (i32.const 8210) (i32.const 4000)))
    (i32.store8 (i32.add (i32.const 8210) (local.get $m)) (i32.const 125))
    (call $output (i32.const 8192) (i32.add (local.get $m) (i32.const 19))))

  ;; byte by byte, as a C library without bulk memory does
  (func $copy (param $to i32) (param $from i32) (param $n i32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $n)))
        (i32.store8 (local.get $to) (i32.load8_u (local.get $from)))
        (local.set $to (i32.add (local.get $to) (i32.const 1)))
        (local.set $from (i32.add (local.get $from) (i32.const 1)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br $next))))

  ;; counts its calls in a global and in memory, and must never see an old count
  (func $count (export "count") (result i32)
    (global.set $count (i32.add (global.get $count) (i32.const 1)))
    (i32.store (i32.const 64) (i32.add (i32.load (i32.const 64)) (i32.const 1)))
    (i32.add (global.get $count) (i32.load (i32.const 64))))

  (func $nothing (export "nothing"))

  (func $loop (export "loop") (param $n i32) (result i32) (local $x i32)
    (local.set $x (i32.const 1))
    (loop $next
      (local.set $x (i32.xor (i32.add (i32.mul (local.get $x) (i32.const 1664525)) (i32.const 1013904223))
        (i32.shr_u (local.get $x) (i32.const 7))))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $x))

  (func $fib (export "fib") (param $n i32) (result i32)
    (if (result i32) (i32.lt_u (local.get $n) (i32.const 2))
      (then (local.get $n))
      (else (i32.add (call $fib (i32.sub (local.get $n) (i32.const 1)))
                     (call $fib (i32.sub (local.get $n) (i32.const 2)))))))

  ;; the sieve of Eratosthenes below 65536, one byte per number
  (func $sieve (export "sieve") (result i32) (local $i i32) (local $j i32) (local $found i32)
    (memory.fill (i32.const 65536) (i32.const 1) (i32.const 65536))
    (local.set $i (i32.const 2))
    (loop $outer
      (if (i32.load8_u offset=65536 (local.get $i))
        (then
          (local.set $found (i32.add (local.get $found) (i32.const 1)))
          (local.set $j (i32.shl (local.get $i) (i32.const 1)))
          (block $done
            (loop $inner
              (br_if $done (i32.ge_u (local.get $j) (i32.const 65536)))
              (i32.store8 offset=65536 (local.get $j) (i32.const 0))
              (local.set $j (i32.add (local.get $j) (local.get $i)))
              (br $inner)))))
      (br_if $outer (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 65536))))
    (local.get $found)))
