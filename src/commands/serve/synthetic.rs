//! Made-up events: each type at its rate, its keys in turn.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, sleep_until};

use super::outlet::Outlet;
use crate::error::Failure;
use crate::server::Publication;
use crate::settings::serve::SyntheticType;

/// A machine that was asleep does not make up for it: what is due longer than this is left out.
const LATE_MAX: Duration = Duration::from_secs(2);

/// One type, and when it is due.
struct Due<'a> {
    made_up: &'a SyntheticType,
    begun: Instant,
    /// Events so far.
    count: u64,
}

impl Due<'_> {
    fn at(&self) -> Option<Instant> {
        if self.made_up.count.is_some_and(|count| self.count >= count) {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "a microsecond in a century does no harm")]
        let seconds = self.count as f64 / self.made_up.rate;
        Some(self.begun + Duration::from_secs_f64(seconds))
    }
}

/// Publishes events until each type has had its count; for ever, if one has none.
///
/// # Errors
/// The log's file does not take them.
pub(super) async fn play(types: &[SyntheticType], outlet: &Outlet) -> Result<(), Failure> {
    let begun = Instant::now();
    let mut types: Vec<_> = types.iter().map(|made_up| Due { made_up, begun, count: 0 }).collect();
    loop {
        let Some(next) = types.iter().filter_map(Due::at).min() else { return Ok(()) };
        sleep_until(next).await;
        let now = Instant::now();
        let mut events = Vec::new();
        for due in &mut types {
            if let Some(at) = due.at().filter(|at| now.duration_since(*at) > LATE_MAX) {
                due.begun += now.duration_since(at);
            }
            while due.at().is_some_and(|at| at <= now) {
                events.push(event(due.made_up, due.count));
                due.count += 1;
            }
        }
        outlet.publish(events).await?;
    }
}

fn event(made_up: &SyntheticType, number: u64) -> Publication {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut data = String::from("{");
    if made_up.keys > 0 {
        data.push_str(&format!(r#""sym":"K{}","#, number % u64::from(made_up.keys)));
    }
    data.push_str(&format!(r#""n":{number},"t":{}"#, since_epoch.as_millis()));
    // `,"pad":""}` is 10 bytes.
    if let Some(room) = made_up.size.checked_sub(data.len() + 10) {
        data.push_str(&format!(r#","pad":"{}""#, "x".repeat(room)));
    }
    data.push('}');
    Publication { id: None, event: made_up.event.clone(), data }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_data_has_its_keys_and_its_size() {
        let made_up = SyntheticType { event: "price".into(), rate: 1.0, keys: 8, size: 120, count: None };
        let event = event(&made_up, 11);
        let data: serde_json::Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!((&data["sym"], &data["n"]), (&"K3".into(), &11.into()));
        assert_eq!(event.data.len(), 120);
    }
}
