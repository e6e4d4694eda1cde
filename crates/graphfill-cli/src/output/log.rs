//! What `-v` and `-vv` print: events of graphfill's own crates, with the time since the start.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::style::Stream;

/// Every crate of the workspace has a name that begins so.
const OWN_CRATES: &str = "graphfill";

/// Prints events on standard error from now on: none, those of `-v`, or those of `-vv`.
pub(crate) fn start(verbosity: u8) {
    let level = match verbosity {
        0 => return,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let events = fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(Stream::Err.is_coloured())
        .with_timer(fmt::time::uptime())
        .with_target(verbosity > 1);
    let filter = Targets::new().with_target(OWN_CRATES, level);
    // A second call (as in tests) finds the first one in place, which is as good.
    let _ = tracing_subscriber::registry().with(events).with(filter).try_init();
}
