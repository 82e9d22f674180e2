//! The host of a native program of tests: `armature plugin exec -`, at the other end
//! of a pipe. abi.md has what goes through it.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

struct Pipe {
    _child: Child,
    to: ChildStdin,
    from: ChildStdout,
    rest: Vec<u8>,
}

static PIPE: Mutex<Option<Pipe>> = Mutex::new(None);

impl Pipe {
    fn open() -> Pipe {
        let program = std::env::var_os("ARMATURE").unwrap_or_else(|| "armature".into());
        let started = Command::new(&program).args(["plugin", "exec", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.unwrap_or_else(|e| panic!("{:?} plugin exec -: {}; ARMATURE names the program", program, e));
        let (to, from) = (child.stdin.take().expect("it is piped"), child.stdout.take().expect("it is piped"));
        Pipe { _child: child, to, from, rest: Vec::new() }
    }

    fn ask(&mut self, name: &str, request: &[u8]) -> (i32, Vec<u8>) {
        self.exchange(name, request).unwrap_or_else(|e| panic!("armature plugin exec - has ended: {}", e))
    }

    fn exchange(&mut self, name: &str, request: &[u8]) -> std::io::Result<(i32, Vec<u8>)> {
        let length = (name.len() + 1 + request.len()) as u32;
        self.to.write_all(&[&length.to_be_bytes(), name.as_bytes(), b"\n", request].concat())?;
        self.to.flush()?;
        let mut head = [0u8; 8];
        self.from.read_exact(&mut head)?;
        let number = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let mut answer = vec![0u8; number(0) as usize];
        self.from.read_exact(&mut answer)?;
        Ok((number(4) as i32, answer))
    }
}

fn with<T>(work: impl FnOnce(&mut Pipe) -> T) -> T {
    let mut pipe = PIPE.lock().unwrap_or_else(PoisonError::into_inner);
    work(pipe.get_or_insert_with(Pipe::open))
}

pub(crate) unsafe fn capability(name: &str, input: *const u8, len: i32, output: *mut u8, cap: i32) -> i32 {
    let request = std::slice::from_raw_parts(input, len as usize);
    with(|pipe| {
        let (kind, answer) = pipe.ask(name, request);
        pipe.rest = answer;
        if kind != 0 {
            return -kind;
        }
        let whole = pipe.rest.len() as i32;
        deliver(&mut pipe.rest, output, cap);
        whole
    })
}

unsafe fn deliver(rest: &mut Vec<u8>, p: *mut u8, cap: i32) {
    let n = rest.len().min(cap as usize);
    std::ptr::copy_nonoverlapping(rest.as_ptr(), p, n);
    rest.drain(..n);
}

pub(crate) mod raw {
    use super::*;

    pub unsafe fn take(p: *mut u8, cap: i32) -> i32 {
        with(|pipe| {
            let left = pipe.rest.len() as i32;
            deliver(&mut pipe.rest, p, cap);
            left
        })
    }

    pub unsafe fn log(level: i32, p: *const u8, len: i32) {
        let text = String::from_utf8_lossy(std::slice::from_raw_parts(p, len as usize)).into_owned();
        eprintln!("{}: {}", ["debug", "info", "warn", "error"][level.clamp(0, 3) as usize], text);
    }

    pub unsafe fn now() -> i64 {
        let (_, text) = with(|pipe| pipe.ask("armature1.now", b""));
        String::from_utf8_lossy(&text).parse().expect("a number")
    }

    pub unsafe fn random(p: *mut u8, len: i32) {
        let (_, bytes) = with(|pipe| pipe.ask("armature1.random", len.to_string().as_bytes()));
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), p, bytes.len().min(len as usize));
    }

    // Exports are called by a server only; a test calls the functions behind them.
    pub unsafe fn input(_p: *mut u8, _cap: i32) -> i32 {
        0
    }

    pub unsafe fn output(_p: *const u8, _len: i32) {}

    pub unsafe fn throw(kind: i32, p: *const u8, len: i32) -> ! {
        panic!("thrown: kind {}: {}", kind, String::from_utf8_lossy(std::slice::from_raw_parts(p, len as usize)))
    }
}
