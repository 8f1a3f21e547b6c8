//! HTTP for those who watch the server: `/metrics` for Prometheus, and a page for people.
//!
//! It is off unless `http_port` is set, has a thread of its own, and holds no more than [`MOST_CLIENTS`]
//! clients, each for [`LONGEST`]: who watches takes nothing from who works. Who may ask is for `guard` to
//! say.
//!
//! | module | what lives there |
//! |---|---|
//! | `guard` | who is answered |
//! | `exposition` | Prometheus' text: families of samples |
//! | `metrics` | what `/metrics` tells |
//! | `dashboard` | the page at `/`, and the numbers that it asks for |

mod dashboard;
mod exposition;
mod guard;
mod metrics;
mod plan;
mod slow_log;

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use palisade_base::sysvar::Settings;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_sql::SqlError;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tracing::{info, warn};

use crate::server::Server;
use guard::Verdict;

/// Clients at a time; others wait in the operating system's queue.
const MOST_CLIENTS: usize = 32;
/// How long a client may take to send the head of a request, and be silent between two.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a connection is kept at most. One that is cut off is made again.
const LONGEST: Duration = Duration::from_secs(300);
/// Bytes of the head of a request.
const MOST_HEAD: usize = 16 << 10;
/// After an error of `accept`.
const PAUSE: Duration = Duration::from_millis(50);

type Answer = Response<Full<Bytes>>;

/// The thread that answers.
pub struct HttpThread {
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// Takes the address that the settings name, if they name one.
pub fn bind(settings: &Settings) -> Result<Option<TcpListener>, String> {
    let port = settings.uint(sysvar::HTTP_PORT) as u16;
    if port == 0 {
        return Ok(None);
    }
    let name = settings.text(sysvar::HTTP_ADDRESS).unwrap_or_default().trim();
    let problem =
        |error: io::Error| format!("cannot listen on http_address '{name}', http_port {port}: {error}");
    let listener = TcpListener::bind((name, port)).map_err(problem)?;
    let address = listener.local_addr().map_err(problem)?;
    if settings.bool(sysvar::REQUIRE_SECURE_TRANSPORT) && !address.ip().is_loopback() {
        return Err(format!(
            "http_address '{name}': passwords would be sent unencrypted, which require_secure_transport forbids; listen on \
             127.0.0.1 and let a proxy speak TLS"
        ));
    }
    listener.set_nonblocking(true).map_err(problem)?;
    Ok(Some(listener))
}

/// Answers at `listener` from now on, until [`HttpThread::end`].
pub fn start(server: Arc<Server>, listener: TcpListener) -> Result<HttpThread, String> {
    let problem = |error: io::Error| format!("cannot answer HTTP: {error}");
    let address = listener.local_addr().map_err(problem)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(problem)?;
    let (end, ended) = oneshot::channel();
    let thread = std::thread::Builder::new().name("http".to_owned()).spawn(move || {
        let listener = {
            let _runtime = runtime.enter();
            tokio::net::TcpListener::from_std(listener)
        };
        match listener {
            Ok(listener) => runtime.block_on(async {
                tokio::select! { _ = ended => {}, () = accept(&server, &listener, address) => {} }
            }),
            Err(error) => warn!("cannot answer HTTP: {error}"),
        }
        drop(server);
        runtime.shutdown_background();
    });
    info!("http://{address}/ has a page, http://{address}/metrics what Prometheus reads");
    Ok(HttpThread { end, thread: thread.map_err(problem)? })
}

impl HttpThread {
    /// Answers no more. Waits for: the thread's end.
    pub fn end(self) {
        // It has ended already if nothing hears this.
        let _ = self.end.send(());
        if self.thread.join().is_err() {
            warn!("the thread that answered HTTP has panicked");
        }
    }
}

async fn accept(server: &Arc<Server>, listener: &tokio::net::TcpListener, at: SocketAddr) {
    let places = Arc::new(Semaphore::new(MOST_CLIENTS));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                tokio::spawn(serve(server.clone(), stream, Way { at, peer }, place));
            }
            Err(error) => {
                warn!("cannot accept a client of HTTP: {error}");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// From where to where a client has come.
#[derive(Clone, Copy)]
struct Way {
    at: SocketAddr,
    peer: SocketAddr,
}

/// Answers a client's requests, one after the other.
async fn serve(server: Arc<Server>, stream: TcpStream, way: Way, place: OwnedSemaphorePermit) {
    let answers = service_fn(|request: Request<Incoming>| {
        let server = server.clone();
        async move { Ok::<_, Infallible>(answer(&server, &request, way).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(MOST_HEAD)
        .serve_connection(TokioIo::new(stream), answers);
    // What goes wrong with one client is its own affair.
    let _ = tokio::time::timeout(LONGEST, pin!(connection)).await;
    drop(place);
}

async fn answer(server: &Arc<Server>, request: &Request<Incoming>, way: Way) -> Answer {
    match guard::verdict(server, request.headers(), way).await {
        Verdict::Allowed => {}
        Verdict::Unknown => {
            let mut answer =
                plain(StatusCode::UNAUTHORIZED, "An account with the privilege PROCESS is asked for.\n");
            let challenge = HeaderValue::from_static("Basic realm=\"Palisade\", charset=\"UTF-8\"");
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            return answer;
        }
        Verdict::Foreign => {
            return plain(StatusCode::FORBIDDEN, "This address is for names of this machine only.\n");
        }
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "There is nothing here but to GET.\n");
    }
    let made = match request.uri().path() {
        "/" => {
            let page = &*dashboard::PAGE;
            let mut answer = respond(StatusCode::OK, "text/html; charset=utf-8", page.text.clone());
            if let Ok(policy) = HeaderValue::from_str(&page.policy) {
                answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
            }
            return answer;
        }
        "/metrics" => metrics::text(server).await.map(|text| (exposition::CONTENT_TYPE, text)),
        "/now.json" => dashboard::now(server).await.map(|text| ("application/json", text)),
        "/plan.json" => match plan::asked(request.uri().query()) {
            Some(asked) => plan::told(server, &asked).await.map(|text| ("application/json", text)),
            None => return plain(StatusCode::BAD_REQUEST, "A statement's digest is asked for.\n"),
        },
        "/slow.json" => dashboard::slow(server).await.map(|text| ("application/json", text)),
        _ => return plain(StatusCode::NOT_FOUND, "There is / and /metrics.\n"),
    };
    made.map_or_else(failed, |(kind, text)| respond(StatusCode::OK, kind, text))
}

fn failed(error: SqlError) -> Answer {
    warn!("a request of HTTP failed: {}", error.message);
    plain(StatusCode::INTERNAL_SERVER_ERROR, "The server's log says why this failed.\n")
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    respond(status, "text/plain; charset=utf-8", text.to_owned())
}

fn respond(status: StatusCode, kind: &'static str, text: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text)));
    *answer.status_mut() = status;
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in headers {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}
