//! The tables, as numbered steps from one version of the schema to the next. A step that was released never changes.

use rusqlite::{Connection, TransactionBehavior};

use crate::store::StoreError;

/// Marks the file as one of ours in its header (`PRAGMA application_id`): "ssec".
const APPLICATION_ID: i64 = 0x7373_6563;

/// The version of the schema that this build writes, and the newest that it reads.
pub const SCHEMA_VERSION: u32 = 4;

/// Step `n` leads from version `n` to `n + 1`.
const STEPS: [&str; SCHEMA_VERSION as usize] = [STEP_0, STEP_1, STEP_2, STEP_3];

/// Positions are namespaced (`stream#id`), times are microseconds since the Unix epoch, keys are 16 bytes, big-endian.
/// `leases` outlives `cursors`: the epoch of a forgotten stream still fences its last owner off.
const STEP_0: &str = "
CREATE TABLE leases (
    id INTEGER PRIMARY KEY,
    stream TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL,
    released INTEGER NOT NULL,
    pid INTEGER,
    host TEXT,
    boot TEXT,
    started INTEGER,
    mover TEXT,
    since INTEGER,
    expires_at INTEGER
) STRICT;
CREATE TABLE cursors (
    id INTEGER PRIMARY KEY REFERENCES leases (id),
    stream TEXT NOT NULL UNIQUE,
    latest TEXT,
    lagging TEXT,
    latest_before TEXT,
    latest_at INTEGER,
    lagging_at INTEGER,
    lagging_seq INTEGER NOT NULL DEFAULT 0,
    newest TEXT,
    newest_before TEXT,
    newest_key BLOB,
    shared_ids INTEGER NOT NULL DEFAULT 0,
    sole_id_events INTEGER,
    delivered_at INTEGER,
    recovery_at INTEGER,
    next_seq INTEGER NOT NULL DEFAULT 0,
    window_us INTEGER NOT NULL DEFAULT 0,
    moved_by TEXT,
    url TEXT,
    last_end TEXT,
    key_seed BLOB NOT NULL CHECK (length(key_seed) = 32)
) STRICT;
CREATE TABLE marks (
    cursor INTEGER NOT NULL REFERENCES cursors (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (cursor, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE gaps (
    cursor INTEGER NOT NULL REFERENCES cursors (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    phase TEXT NOT NULL,
    text TEXT NOT NULL,
    dropped INTEGER,
    recovered INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    place TEXT,
    opened_at INTEGER NOT NULL,
    ended_at INTEGER,
    seq INTEGER NOT NULL,
    progress TEXT,
    progress_before TEXT,
    evidence INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    notices_in_row INTEGER NOT NULL,
    PRIMARY KEY (cursor, number)
) STRICT;
CREATE TABLE keys (
    cursor INTEGER NOT NULL REFERENCES cursors (id) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    keys BLOB NOT NULL CHECK (length(keys) % 16 = 0),
    PRIMARY KEY (cursor, first)
) STRICT;
";

/// How far exports are written; `latest`, `next_seq` and `delivered_at` are where the cursor stood at that commit.
const STEP_1: &str = "
CREATE TABLE exports (
    cursor INTEGER NOT NULL REFERENCES cursors (id) ON DELETE CASCADE,
    file TEXT NOT NULL,
    length INTEGER NOT NULL,
    tail BLOB NOT NULL CHECK (length(tail) = 16),
    latest TEXT,
    next_seq INTEGER NOT NULL,
    delivered_at INTEGER,
    PRIMARY KEY (cursor, file)
) STRICT;
ALTER TABLE leases ADD COLUMN edited INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cursors ADD COLUMN last_key BLOB;
";

/// What was delivered from memory is known by its own key, on whatever connection it comes.
const STEP_2: &str = "
ALTER TABLE cursors ADD COLUMN ahead_key BLOB;
";

/// What fills a gap while it waits for its recovery.
const STEP_3: &str = "
ALTER TABLE gaps ADD COLUMN filled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gaps ADD COLUMN passed INTEGER NOT NULL DEFAULT 1;
";

/// What kind of file this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nothing was written yet.
    Fresh,
    /// Ours, of this version.
    Ours(u32),
}

/// Refuses a file that this build must not write to, without changing it.
///
/// # Errors
/// [`StoreError::NewerSchema`]; [`StoreError::Failed`] if it is another program's; [`StoreError::Corrupt`].
pub(super) fn identify(connection: &Connection) -> Result<(), StoreError> {
    look_once(connection).map(drop)
}

/// As one reading: another process may be making the schema just now.
fn look_once(connection: &Connection) -> Result<Kind, StoreError> {
    look(&*connection.unchecked_transaction()?)
}

fn look(connection: &Connection) -> Result<Kind, StoreError> {
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let objects: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application == 0 && version == 0 && objects == 0 {
        return Ok(Kind::Fresh);
    }
    if application != APPLICATION_ID {
        return Err(StoreError::Failed(
            "the file is the SQLite database of another program, not one of ssectl's".to_owned(),
        ));
    }
    match u32::try_from(version) {
        Ok(found) if found > SCHEMA_VERSION => Err(StoreError::NewerSchema { found, known: SCHEMA_VERSION }),
        Ok(found) if found > 0 => Ok(Kind::Ours(found)),
        _ => Err(StoreError::Corrupt(format!("version {version} of its schema never was"))),
    }
}

/// Brings the schema up to [`SCHEMA_VERSION`]. Another process may do the same at the same time: one of them does.
///
/// # Errors
/// As [`identify`]; nothing is changed then.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    if look_once(connection)? == Kind::Ours(SCHEMA_VERSION) {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let from = match look(&transaction)? {
        Kind::Fresh => 0,
        Kind::Ours(version) => version,
    };
    for step in STEPS.iter().skip(from as usize) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    Ok(transaction.commit()?)
}
