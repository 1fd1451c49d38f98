//! Stopping the server: requests that it still answers, and memory that it frees.

use super::{Client, Running, json_request, request};
use crate::support::signal;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

const CONNECTIONS: usize = 100;

/// The server is paused while requests arrive, so that it sees them and the stop signal at the same time.
#[test]
fn received_requests_are_answered_before_the_server_stops() {
    for round in 0..3 {
        let mut running = Running::simple("");
        let request = json_request("[[1,2],[3,-4]]");
        let expected = br#"{"scores":[4.0,2.0],"order":[0,1]}"#;
        let mut kept: Vec<Client> = (0..CONNECTIONS).map(|_| running.client()).collect();
        for client in &mut kept {
            assert_eq!(client.ask(&request).0, 200);
        }
        signal(&running.child, "STOP");
        let mut new: Vec<Client> = (0..CONNECTIONS).map(|_| running.client()).collect();
        for client in kept.iter_mut().chain(&mut new) {
            client.stream.write_all(&request).unwrap();
        }
        // Two pipelined requests on the first connection.
        kept[0].stream.write_all(&request).unwrap();
        let idle = running_idle(&running);
        signal(&running.child, "TERM");
        signal(&running.child, "CONT");
        let answered = |clients: &mut [Client]| {
            let answers = clients.iter_mut().map(Client::answer);
            answers.filter(|answer| answer.as_ref().is_ok_and(|(code, body)| *code == 200 && body == expected)).count()
        };
        let last = kept.split_off(1);
        let mut twice = kept.remove(0);
        let both = read_all(&mut twice.stream);
        let counts = (both.matches("HTTP/1.1 200 OK").count(), answered(&mut { last }), answered(&mut new));
        assert_eq!(counts, (2, CONNECTIONS - 1, CONNECTIONS), "answers on kept and on new connections, round {round}");
        assert_eq!(running.child.wait().unwrap().code(), Some(0));
        drop(idle);
    }
}

/// A connection without a request, which must not delay the stop.
fn running_idle(running: &Running) -> TcpStream {
    TcpStream::connect(running.address).unwrap()
}

fn read_all(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The server waits for the rest of an incomplete request after SIGTERM, up to --timeout.
#[test]
fn an_incomplete_header_is_waited_for_until_the_timeout() {
    let mut running = Running::simple("--timeout 2");
    let request = json_request("[[1,2],[3,-4]]");
    let (mut slow, mut never) = (running.client(), running.client());
    slow.stream.write_all(&request[..20]).unwrap();
    never.stream.write_all(&request[..20]).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    signal(&running.child, "TERM");
    std::thread::sleep(Duration::from_millis(500));
    slow.stream.write_all(&request[20..]).unwrap();
    assert_eq!(slow.answer().unwrap().0, 200);
    assert_eq!(running.child.wait().unwrap().code(), Some(0));
    assert!(never.answer().is_err());
}

/// A request that is sent right after the connection was accepted is answered.
#[test]
fn a_request_on_a_late_connection_is_answered() {
    let mut running = Running::simple("");
    let mut clients: Vec<Client> = (0..20).map(|_| running.client()).collect();
    signal(&running.child, "TERM");
    for client in &mut clients {
        client.stream.write_all(&json_request("[[1,2],[3,-4]]")).unwrap();
        assert_eq!(client.answer().unwrap().0, 200);
    }
    assert_eq!(running.child.wait().unwrap().code(), Some(0));
}

/// Resident memory of a process in MB.
#[cfg(target_os = "linux")]
fn resident(process: u32) -> usize {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
}

#[test]
#[cfg(target_os = "linux")]
fn memory_of_large_bodies_is_freed() {
    let running = Running::simple("--max-documents 10000000 --threads 4");
    running.is_well();
    let before = resident(running.child.id());
    let bytes = request("content-type: application/octet-stream\r\n", &vec![0; 16_000_000]);
    let text = json_request(&format!("[[1,2]{}]", ",[1,2]".repeat(2_600_000)));
    std::thread::scope(|scope| {
        for client in 0..8 {
            let (running, body) = (&running, if client % 2 == 0 { &bytes } else { &text });
            scope.spawn(move || {
                let mut client = running.client();
                for _ in 0..3 {
                    let (code, _) = client.try_ask(body).unwrap();
                    assert!(code == 200 || code == 503, "{code}");
                }
                let _ = client.stream.shutdown(Shutdown::Both);
            });
        }
    });
    running.until("connections are ended", || running.metric("burnrank_connections") == 1.0);
    let after = resident(running.child.id());
    println!("{before} MB before, {after} MB after");
    assert!(after < before + 40, "{before} MB before, {after} MB after");
}
