//! A server as one writes it in Python, with ONNX Runtime: something to compare with.

use super::Peer;
use anyhow::Context;
use burnrank::export::{Format, Request};
use burnrank::{Device, Model};
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// A thread per connection, connections that are kept, one write per answer, one thread per session: the standard library's
/// server as fast as it goes.
const SCRIPT: &str = r#"
import http.server, json, sys
import numpy, onnxruntime

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
width = session.get_inputs()[0].shape[1]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Type"] == "application/octet-stream":
            rows = numpy.frombuffer(body, numpy.float32).reshape(-1, width)
        else:
            rows = numpy.array(json.loads(body)["documents"], numpy.float32)
        scores = session.run(["scores"], {"features": rows})[0]
        order = numpy.argsort(-scores, kind="stable")
        answer = json.dumps({"scores": scores.tolist(), "order": order.tolist()}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        self.wfile.flush()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(json.dumps({"address": "127.0.0.1:%d" % server.server_address[1]}), flush=True)
server.serve_forever()
"#;

/// Its name in tables.
pub const NAME: &str = "Python, ONNX Runtime";

/// Starts it with the model as ONNX, in a folder that must live as long as it runs.
pub fn start(python: &OsStr, model: &Path, device: &Device, folder: &Path) -> anyhow::Result<Peer> {
    let exported = Format::of("onnx")?.export(&Request::new(&Model::load(model, device)?, "model"))?;
    let file = folder.join("model.onnx");
    std::fs::write(&file, exported.bytes).with_context(|| format!("cannot write {}", file.display()))?;
    let (peer, _) = Peer::start(Command::new(python).args(["-c", SCRIPT]).arg(&file))
        .context("BURNRANK_PYTHON must name a Python that has numpy and onnxruntime")?;
    Ok(peer)
}
