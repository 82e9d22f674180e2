;; One export for each way to misbehave. After any of them the next call of
;; healthy must answer 42.
(module
  (type $void (func))
  (import "host" "input" (func $input (param i32 i32) (result i32)))
  (import "host" "output" (func $output (param i32 i32)))
  (import "host" "throw" (func $throw (param i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sched_yield" (func $sched (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 1 4096)
  (table 2 funcref)
  (elem (i32.const 0) $spin)
  (global $state (mut i32) (i32.const 42))
  (global $wide (mut i64) (i64.const 0x0123456789abcdef))

  (data (i32.const 16) "\2a")
  (data (i32.const 32) "a line\n\20")

  ;; 42 when global and memory are as they began
  (func $healthy (export "healthy") (result i32)
    (if (result i32)
      (i32.and (i32.eq (global.get $state) (i32.load8_u (i32.const 16)))
               (i32.and (i64.eq (global.get $wide) (i64.const 0x0123456789abcdef))
                        (i32.eq (memory.size) (i32.const 1))))
      (then (global.get $state))
      (else (i32.const 0))))

  (func $soil (global.set $state (i32.const 7)) (global.set $wide (i64.const 1))
    (i32.store8 (i32.const 16) (i32.const 7)) (i32.store8 (i32.const 65535) (i32.const 7)))

  (func $spin (export "spin") (call $soil) (loop $again (br $again)))
  (func $spin_indirect (export "spin_indirect") (call $soil) (call_indirect (type $void) (i32.const 0)))

  ;; two to the power of forty calls and no loop
  (func $tree (export "tree") (call $soil) (call $t8) (call $t8) (call $t8))
  (func $t8 (call $t7) (call $t7) (call $t7) (call $t7) (call $t7) (call $t7) (call $t7) (call $t7) (call $t7) (call $t7))
  (func $t7 (call $t6) (call $t6) (call $t6) (call $t6) (call $t6) (call $t6) (call $t6) (call $t6) (call $t6) (call $t6))
  (func $t6 (call $t5) (call $t5) (call $t5) (call $t5) (call $t5) (call $t5) (call $t5) (call $t5) (call $t5) (call $t5))
  (func $t5 (call $t4) (call $t4) (call $t4) (call $t4) (call $t4) (call $t4) (call $t4) (call $t4) (call $t4) (call $t4))
  (func $t4 (call $t3) (call $t3) (call $t3) (call $t3) (call $t3) (call $t3) (call $t3) (call $t3) (call $t3) (call $t3))
  (func $t3 (call $t2) (call $t2) (call $t2) (call $t2) (call $t2) (call $t2) (call $t2) (call $t2) (call $t2) (call $t2))
  (func $t2 (call $t1) (call $t1) (call $t1) (call $t1) (call $t1) (call $t1) (call $t1) (call $t1) (call $t1) (call $t1))
  (func $t1 (call $t0) (call $t0) (call $t0) (call $t0) (call $t0) (call $t0) (call $t0) (call $t0) (call $t0) (call $t0))
  (func $t0 (i32.store (i32.const 128) (i32.add (i32.load (i32.const 128)) (i32.const 1))))

  (func $recurse (export "recurse") (param $n i32) (result i32)
    (i32.store8 (i32.const 65535) (i32.const 7))
    (i32.add (call $recurse (i32.add (local.get $n) (i32.const 1))) (i32.const 1)))

  ;; the same with so many locals that the stack is large at little depth
  (func $fat (export "fat") (param $n i32) (result i32)
    (local i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64)
    (i32.add (call $fat (i32.add (local.get $n) (i32.const 1))) (i32.wrap_i64 (local.get 3))))

  ;; fills all memory it can get, over and over
  (func $fill (export "fill") (call $soil)
    (drop (memory.grow (i32.const 500)))
    (loop $again
      (memory.fill (i32.const 0) (i32.const 1) (i32.mul (memory.size) (i32.const 65536)))
      (br $again)))
  (func $copy (export "copy") (call $soil)
    (drop (memory.grow (i32.const 500)))
    (loop $again
      (memory.copy (i32.const 1) (i32.const 0) (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 1)))
      (br $again)))

  ;; takes memory until it gets no more, touches it, then gives up
  (func $hog (export "hog") (call $soil)
    (loop $again
      (if (i32.eq (memory.grow (i32.const 16)) (i32.const -1)) (then (unreachable)))
      (i32.store8 (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 1)) (i32.const 7))
      (br $again)))
  (func $grow_much (export "grow_much") (call $soil)
    (if (i32.eq (memory.grow (i32.const 3000)) (i32.const -1)) (then (unreachable))))

  ;; grows and is content
  (func $grow (export "grow") (param $pages i32) (result i32) (call $soil)
    (if (i32.eq (memory.grow (local.get $pages)) (i32.const -1)) (then (unreachable)))
    (memory.fill (i32.const 65536) (i32.const 255) (i32.mul (local.get $pages) (i32.const 65536)))
    (memory.size))

  ;; lies about lengths
  (func $lie_output (export "lie_output") (call $soil) (call $output (i32.const 65000) (i32.const 10000)))
  (func $lie_wrap (export "lie_wrap") (call $soil) (call $output (i32.const -16) (i32.const 32)))
  (func $lie_huge (export "lie_huge") (call $soil) (call $output (i32.const 0) (i32.const -1)))
  (func $lie_input (export "lie_input") (call $soil) (drop (call $input (i32.const 65530) (i32.const 4096))))
  (func $lie_wasi (export "lie_wasi") (call $soil) (drop (call $random (i32.const 65530) (i32.const 4096))))

  ;; traps
  (func $unreachable (export "unreachable") (call $soil) (call $inner))
  (func $inner (unreachable))
  (func $divide (export "divide") (result i32) (call $soil) (i32.div_u (i32.const 1) (i32.load (i32.const 60000))))
  (func $outside (export "outside") (result i32) (call $soil) (i32.load (i32.const -16)))
  (func $fill_outside (export "fill_outside") (call $soil)
    (memory.fill (i32.const 65000) (i32.const 1) (i32.const 0x7fffffff)))
  (func $copy_outside (export "copy_outside") (call $soil)
    (memory.copy (i32.const 0x7f000000) (i32.const 0) (i32.const 0x81001000)))
  (func $null_call (export "null_call") (call $soil) (call_indirect (type $void) (i32.const 1)))

  ;; ends in its own ways
  (func $throws (export "throws") (param $kind i32) (call $soil) (call $throw (local.get $kind)) (unreachable))
  (func $exit_one (export "exit_one") (call $soil) (call $exit (i32.const 1)) (unreachable))
  (func $exit_zero (export "exit_zero") (call $soil) (call $exit (i32.const 0)) (unreachable))

  ;; floods the host
  (func $flood (export "flood") (call $soil) (loop $again (call $output (i32.const 0) (i32.const 0)) (br $again)))
  (func $flood_wasi (export "flood_wasi") (call $soil) (loop $again (drop (call $sched)) (br $again)))
  (func $flood_log (export "flood_log") (call $soil)
    (i32.store (i32.const 48) (i32.const 32)) (i32.store (i32.const 52) (i32.const 7))
    (loop $again (drop (call $write (i32.const 1) (i32.const 48) (i32.const 1) (i32.const 56))) (br $again)))
)
