//! The server's figures, for Prometheus and for its page.

use std::sync::Arc;

use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use serde_json::{Map, Value, json};

use super::hub::{Hub, Stats, TypeCounts};

/// The media type of the OpenMetrics text format, which Prometheus asks for first.
pub(super) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How many clients the page shows: those for whom most waits.
const CLIENTS_SHOWN: usize = 50;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Type {
    r#type: String,
}

/// How to read one figure of a type.
type OfType = fn(&TypeCounts) -> u64;

const OF_TYPES: [(&str, &str, OfType); 5] = [
    ("published", "Events published by the source", |counts| counts.published),
    ("delivered", "Events handed to the socket of a client, summed over clients", |counts| counts.delivered),
    ("coalesced", "Events replaced by a newer one of their key while they waited", |counts| counts.coalesced),
    ("dropped", "Events lost for a client, by `drop` or by an overflow with notice", |counts| counts.dropped),
    ("discarded", "Events let go of for a snapshot", |counts| counts.discarded),
];

/// How to read one figure of the server.
type OfServer = fn(&Stats) -> u64;

const OF_SERVER: [(&str, &str, OfServer); 7] = [
    ("connections", "Streams begun", |stats| stats.connections),
    ("replayed", "Events read from the log for clients that came with a cursor", |stats| stats.replayed),
    ("slow_disconnects", "Streams ended because their client was too slow", |stats| stats.slow_disconnects),
    ("drop_notices", "Comments that told a client of dropped events", |stats| stats.drop_notices),
    ("resyncs", "Clients told to fetch the current state", |stats| stats.resyncs),
    ("expired_cursors", "Cursors that the log no longer had", |stats| stats.expired),
    ("refused", "Streams refused because there were too many clients", |stats| stats.refused),
];

/// All figures as text, for `/metrics`.
pub(super) fn text(hub: &Hub) -> String {
    let stats = hub.stats();
    let mut registry = Registry::with_prefix("ssectl_serve");
    for (name, help, of) in OF_TYPES {
        let family = Family::<Type, Counter>::default();
        for (event, counts) in &stats.types {
            family.get_or_create(&Type { r#type: event.to_string() }).inc_by(of(counts));
        }
        registry.register(name, help, family);
    }
    for (name, help, of) in OF_SERVER {
        let counter = Counter::<u64>::default();
        counter.inc_by(of(&stats));
        registry.register(name, help, counter);
    }
    let clients = hub.standings(usize::MAX);
    let sum = |of: fn(&super::ClientStanding) -> usize| clients.iter().map(of).sum::<usize>();
    let slow = clients.iter().filter(|client| client.state == "slow").count();
    let gauges = [
        ("clients", "Streams that are open", clients.len()),
        ("slow_clients", "Clients for whom something waits", slow),
        ("queue_frames", "Entries that wait, summed over clients", sum(|client| client.queue_frames)),
        ("queue_bytes", "What they count for", sum(|client| client.queue_bytes)),
    ];
    for (name, help, value) in gauges {
        let gauge = Gauge::<i64>::default();
        gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        registry.register(name, help, gauge);
    }
    registry.register("replay_events", "Events read from the log in one replay", hub.replays());
    let mut text = String::new();
    encode(&mut text, &registry).expect("a String takes everything");
    text
}

/// All figures as one JSON object, for the page.
pub(super) fn figures(hub: &Hub) -> String {
    let stats = hub.stats();
    let of_type = |(event, counts): (&Arc<str>, &TypeCounts)| {
        let figures = OF_TYPES.iter().map(|(name, _, of)| ((*name).to_owned(), Value::from(of(counts))));
        (event.to_string(), Value::Object(figures.collect()))
    };
    let types: Map<String, Value> = stats.types.iter().map(of_type).collect();
    let server: Map<String, Value> =
        OF_SERVER.iter().map(|(name, _, of)| ((*name).to_owned(), Value::from(of(&stats)))).collect();
    let clients = hub.standings(usize::MAX);
    let shown = clients.iter().take(CLIENTS_SHOWN).map(|client| {
        json!({
            "number": client.number,
            "state": client.state,
            "queue_frames": client.queue_frames,
            "queue_bytes": client.queue_bytes,
            "sent_bytes": client.sent_bytes,
        })
    });
    json!({
        "types": types,
        "server": server,
        "clients": { "open": clients.len(), "shown": shown.collect::<Vec<_>>() },
        "queue_bytes_max": hub.queue_bytes_max(),
    })
    .to_string()
}
