//! The option `remote`: a URL, or what `remote_client.rb` found out about a client.

use crate::error::{invalid, OrRaise};
use crate::string::{content, Content};
use magnus::{prelude::*, Error, Integer, RArray, RHash, RString, Ruby, Value};
use polycache::bindings::remote::{Address, Settings, Tls, Topology};
use polycache::Remote;
use std::path::PathBuf;

/// Reads the option. Nothing of it is shown, because it may hold a password.
///
/// # Errors
/// `InvalidArgument`.
pub(crate) fn read(ruby: &Ruby, value: Value) -> Result<Remote, Error> {
    match RHash::from_value(value) {
        Some(fields) => settings(ruby, fields)?.remote().or_raise(ruby),
        None => Ok(Remote::from(text(ruby, "URL", value)?)),
    }
}

fn settings(ruby: &Ruby, fields: RHash) -> Result<Settings, Error> {
    let addresses: RArray = fields.fetch(ruby.sym_new("addresses"))?;
    let addresses = addresses.into_iter().map(|one| address(ruby, one));
    Ok(Settings {
        topology: topology(ruby, fields)?,
        addresses: addresses.collect::<Result<_, _>>()?,
        username: field(ruby, fields, "username")?,
        password: field(ruby, fields, "password")?,
        database: fields.fetch(ruby.sym_new("database"))?,
        tls: nested(ruby, fields, "tls")
            .map(|fields| tls(ruby, fields))
            .transpose()?,
    })
}

fn topology(ruby: &Ruby, fields: RHash) -> Result<Topology, Error> {
    let name: String = fields.fetch(ruby.sym_new("topology"))?;
    if let Some(sentinel) = nested(ruby, fields, "sentinel") {
        return Ok(Topology::Sentinel {
            name: field(ruby, sentinel, "name")?.unwrap_or_default(),
            username: field(ruby, sentinel, "username")?,
            password: field(ruby, sentinel, "password")?,
            tls: sentinel.fetch(ruby.sym_new("tls"))?,
        });
    }
    Ok(match name.as_str() {
        "cluster" => Topology::Cluster,
        _ => Topology::Single,
    })
}

/// Host and port, or a path.
fn address(ruby: &Ruby, value: Value) -> Result<Address, Error> {
    let Some(pair) = RArray::from_value(value) else {
        return Ok(Address::Unix(PathBuf::from(text(ruby, "path", value)?)));
    };
    let host = text(ruby, "host", pair.entry(0)?)?;
    let port = pair.entry::<Value>(1)?;
    let port = match Integer::from_value(port) {
        Some(port) => port.to_u64().ok(),
        // Some clients take it from text at each connection.
        None => text(ruby, "port", port)?.parse().ok(),
    };
    let port = port.and_then(|port| u16::try_from(port).ok());
    let wrong = || invalid(ruby, "remote is a client whose port is none");
    Ok(Address::Tcp(host, port.ok_or_else(wrong)?))
}

fn tls(ruby: &Ruby, fields: RHash) -> Result<Tls, Error> {
    let pem = |name: &str| field(ruby, fields, name).map(|text| text.map(String::into_bytes));
    Ok(Tls {
        authority: pem("authority")?,
        client: pem("certificate")?.zip(pem("key")?),
        insecure: fields.fetch(ruby.sym_new("insecure"))?,
    })
}

fn nested(ruby: &Ruby, fields: RHash, name: &str) -> Option<RHash> {
    RHash::from_value(fields.get(ruby.sym_new(name))?)
}

fn field(ruby: &Ruby, fields: RHash, name: &str) -> Result<Option<String>, Error> {
    let held = fields.get(ruby.sym_new(name));
    held.filter(|held: &Value| !held.is_nil())
        .map(|held| text(ruby, name, held))
        .transpose()
}

fn text(ruby: &Ruby, what: &str, value: Value) -> Result<String, Error> {
    let text = RString::from_value(value).and_then(|string| {
        // SAFETY: the bytes are copied at once.
        match unsafe { content(ruby, string) } {
            Content::Text(text) | Content::Ascii(text) => Some(text.to_owned()),
            Content::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok(),
            Content::Invalid | Content::Foreign => None,
        }
    });
    text.ok_or_else(|| {
        invalid(
            ruby,
            format!("remote has a {what} that is no text in UTF-8"),
        )
    })
}
