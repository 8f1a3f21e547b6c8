//! Where clients come in: TCP and the Unix socket.
//!
//! The addresses are bound before the engine opens, so that a port in use is told at once; they are listened on when
//! the server is ready, so that nobody waits in a queue for it.

use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::task::Poll;

use palisade_base::sysvar::Settings;
use palisade_base::sysvar_catalogue as sysvar;
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream};

use crate::stream::Socket;

/// Connections that may wait to be accepted; the kernel caps it.
const BACKLOG: u32 = 4096;

/// Addresses that are taken and not listened on yet.
pub struct Bound {
    tcp: Vec<(TcpSocket, SocketAddr)>,
    /// Those of `admin_address`.
    administrative: Vec<(TcpSocket, SocketAddr)>,
    socket: Option<PathBuf>,
}

/// A client that has come in.
pub struct Incoming {
    /// Its socket.
    pub socket: Socket,
    /// Where it comes from, unless by the Unix socket.
    pub address: Option<SocketAddr>,
    /// It came to `admin_address`.
    pub is_administrative: bool,
}

/// Open doors.
pub struct Listeners {
    tcp: Vec<TcpListener>,
    administrative: Vec<TcpListener>,
    unix: Option<UnixListener>,
    socket: Option<PathBuf>,
}

/// Takes the addresses that the settings name. Must be called in an event loop.
pub fn bind(settings: &Settings) -> Result<Bound, String> {
    let mut bound = Bound { tcp: Vec::new(), administrative: Vec::new(), socket: None };
    let port = settings.uint(sysvar::PORT) as u16;
    if !settings.bool(sysvar::SKIP_NETWORKING) {
        let list = settings.text(sysvar::BIND_ADDRESS).unwrap_or("*");
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if name == "*" {
                bound.tcp.push(bind_everywhere(port)?);
                continue;
            }
            for address in addresses(name, port)? {
                bound.tcp.push((bind_tcp(address).map_err(|error| problem(address, &error))?, address));
            }
        }
    }
    if let Some(name) = administrative_address(settings)? {
        for address in addresses(name, settings.uint(sysvar::ADMIN_PORT) as u16)? {
            let socket = bind_tcp(address).map_err(|error| problem(address, &error))?;
            bound.administrative.push((socket, address));
        }
    }
    let path = settings.text(sysvar::SOCKET).unwrap_or_default();
    if !path.is_empty() {
        bound.socket = Some(PathBuf::from(path));
    }
    Ok(bound)
}

/// `admin_address`, if there is one. Like MySQL's it is one address: who administers comes from somewhere.
pub fn administrative_address(settings: &Settings) -> Result<Option<&str>, String> {
    let name = settings.text(sysvar::ADMIN_ADDRESS).unwrap_or_default().trim();
    if name.is_empty() || settings.bool(sysvar::SKIP_NETWORKING) {
        return Ok(None);
    }
    let is_unspecified = name.parse::<IpAddr>().is_ok_and(|address| address.is_unspecified());
    match name.contains([',', '*']) || is_unspecified {
        true => Err(format!("admin_address '{name}': it is one address, and not a wildcard")),
        false => Ok(Some(name)),
    }
}

fn problem(address: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "cannot listen on {address}: the port is in use; is another server running? \
             --port=NUMBER chooses another one"
        ),
        _ => format!("cannot listen on {address}: {error}"),
    }
}

/// All addresses of the machine, those of IPv4 included whatever the system's default is; only those where there is no IPv6.
fn bind_everywhere(port: u16) -> Result<(TcpSocket, SocketAddr), String> {
    let [all, all_v4] = [IpAddr::V6(Ipv6Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::UNSPECIFIED)]
        .map(|address| SocketAddr::new(address, port));
    match bind_tcp(all) {
        Ok(socket) => Ok((socket, all)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(problem(all, &error)),
        Err(_) => Ok((bind_tcp(all_v4).map_err(|error| problem(all_v4, &error))?, all_v4)),
    }
}

fn addresses(name: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    let found = (name, port).to_socket_addrs().map_err(|error| format!("address '{name}': {error}"))?;
    Ok(found.collect())
}

fn bind_tcp(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    if address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) {
        rustix::net::sockopt::set_ipv6_v6only(&socket, false)?;
    }
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

impl Bound {
    /// Opens the doors.
    pub fn listen(self) -> Result<Listeners, String> {
        let mut listeners = Listeners {
            tcp: listen_tcp(self.tcp)?,
            administrative: listen_tcp(self.administrative)?,
            unix: None,
            socket: None,
        };
        if let Some(path) = self.socket {
            listeners.unix = Some(listen_unix(&path)?);
            listeners.socket = Some(path);
        }
        Ok(listeners)
    }
}

fn listen_tcp(bound: Vec<(TcpSocket, SocketAddr)>) -> Result<Vec<TcpListener>, String> {
    let listen = |(socket, address): (TcpSocket, SocketAddr)| {
        socket.listen(BACKLOG).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!("cannot listen on {address}: the port is in use; is another server running?")
            }
            _ => format!("cannot listen on {address}: {error}"),
        })
    };
    bound.into_iter().map(listen).collect()
}

/// Opens a Unix socket; one that a crashed server left behind is replaced, one in use is not.
fn listen_unix(path: &Path) -> Result<UnixListener, String> {
    let problem = |error: io::Error| format!("cannot listen on {}: {error}", path.display());
    if path.exists() {
        match std::os::unix::net::UnixStream::connect(path) {
            Ok(_) => {
                return Err(format!("cannot listen on {}: another server uses the socket", path.display()));
            }
            Err(_) => std::fs::remove_file(path).map_err(problem)?,
        }
    }
    let listener = UnixListener::bind(path).map_err(problem)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).map_err(problem)?;
    Ok(listener)
}

impl Listeners {
    /// Where to connect, for people.
    pub fn describe(&self) -> String {
        let mut out = String::new();
        for listener in &self.tcp {
            if let Ok(address) = listener.local_addr() {
                // writing to a String does not fail
                let _ = write!(out, "{}{address}", if out.is_empty() { "" } else { ", " });
            }
        }
        for listener in &self.administrative {
            if let Ok(address) = listener.local_addr() {
                let _ = write!(out, "{}{address} for administrators", if out.is_empty() { "" } else { ", " });
            }
        }
        if let Some(path) = &self.socket {
            let _ = write!(out, "{}socket {}", if out.is_empty() { "" } else { ", " }, path.display());
        }
        if out.is_empty() { "nowhere".to_owned() } else { out }
    }

    /// The first TCP address.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp.first()?.local_addr().ok()
    }

    /// The first address for administrators.
    pub fn administrative_address(&self) -> Option<SocketAddr> {
        self.administrative.first()?.local_addr().ok()
    }

    /// Waits for the next client. Errors are those of a single client or of exhausted resources: go on after a while.
    pub async fn accept(&self) -> io::Result<Incoming> {
        std::future::poll_fn(|context| {
            let administrative = self.administrative.iter().map(|listener| (listener, true));
            for (listener, is_administrative) in administrative.chain(self.tcp.iter().map(|tcp| (tcp, false)))
            {
                if let Poll::Ready(result) = listener.poll_accept(context) {
                    let incoming =
                        result.and_then(|(stream, address)| tcp(stream, address, is_administrative));
                    return Poll::Ready(incoming);
                }
            }
            if let Some(listener) = &self.unix
                && let Poll::Ready(result) = listener.poll_accept(context)
            {
                return Poll::Ready(result.and_then(|(stream, _)| unix(stream)));
            }
            Poll::Pending
        })
        .await
    }
}

fn tcp(stream: TcpStream, address: SocketAddr, is_administrative: bool) -> io::Result<Incoming> {
    stream.set_nodelay(true)?;
    Ok(Incoming { socket: Socket::Tcp(stream.into_std()?), address: Some(address), is_administrative })
}

fn unix(stream: UnixStream) -> io::Result<Incoming> {
    Ok(Incoming { socket: Socket::Unix(stream.into_std()?), address: None, is_administrative: false })
}

impl Drop for Listeners {
    fn drop(&mut self) {
        if let Some(path) = &self.socket {
            // nobody is the worse for a socket file that stays
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use palisade_base::sysvar::Setting;

    use super::*;

    #[test]
    fn the_address_for_administrators_is_a_single_one() {
        let address = |text: &str| {
            let mut settings = Settings::default();
            settings.set(sysvar::ADMIN_ADDRESS, Setting::Text(text.into()));
            administrative_address(&settings).map(|name| name.map(str::to_owned))
        };
        assert_eq!(address(""), Ok(None));
        assert_eq!(address("127.0.0.1"), Ok(Some("127.0.0.1".to_owned())));
        for wildcard in ["*", "0.0.0.0", "::", "127.0.0.1,::1"] {
            assert!(address(wildcard).is_err(), "{wildcard}");
        }
    }
}
