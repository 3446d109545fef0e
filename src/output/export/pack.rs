//! Compression of exports: frames (zstd, RFC 8878) or members (gzip, RFC 1952), one for each commit, so that a file can
//! be cut at any committed length and is read by the usual tools as one.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Take, Write};
use std::path::Path;

use flate2::Compression;

/// zstd's own default; its encoder needs a few megabytes at this level.
const ZSTD_LEVEL: i32 = 3;

/// How an export is written, which its name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Zstd,
    Gzip,
}

impl Packing {
    /// By the ending of the name; `.part` does not count.
    pub(super) fn of(path: &Path) -> Self {
        let name = path.to_string_lossy();
        let name = name.strip_suffix(super::names::PART).unwrap_or(&name);
        match Path::new(name).extension().and_then(|extension| extension.to_str()) {
            Some("zst") => Self::Zstd,
            Some("gz") => Self::Gzip,
            _ => Self::Plain,
        }
    }

    /// Reads what was packed.
    pub(super) fn reader<'a>(self, file: Take<&'a File>) -> io::Result<Box<dyn BufRead + 'a>> {
        Ok(match self {
            Self::Plain => Box::new(BufReader::new(file)),
            Self::Zstd => Box::new(BufReader::new(zstd::stream::read::Decoder::new(file)?)),
            Self::Gzip => Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(BufReader::new(file)))),
        })
    }

    /// The length of all frames at the start of the file that are whole; of the file itself where there are none.
    pub(super) fn whole_frames(self, mut file: &File) -> io::Result<u64> {
        if self == Self::Plain {
            return Ok(file.metadata()?.len());
        }
        let mut counted = Counted { reader: BufReader::new(&mut file), bytes: 0 };
        loop {
            let whole = counted.bytes;
            if counted.fill_buf()?.is_empty() {
                return Ok(whole);
            }
            let read = match self {
                Self::Gzip => io::copy(&mut flate2::bufread::GzDecoder::new(&mut counted), &mut io::sink()),
                _ => zstd::stream::read::Decoder::with_buffer(&mut counted)
                    .and_then(|decoder| io::copy(&mut decoder.single_frame(), &mut io::sink())),
            };
            match read {
                Ok(_) => {}
                Err(error) if is_of_the_system(&error) => return Err(error),
                // Cut off, or not a frame at all.
                Err(_) => return Ok(whole),
            }
        }
    }

    pub(super) fn encoder(self) -> Encoder {
        match self {
            Self::Plain => Encoder::Plain,
            Self::Zstd => Encoder::Zstd(None),
            Self::Gzip => Encoder::Gzip(None),
        }
    }
}

/// What the disk says, rather than the decoder.
fn is_of_the_system(error: &io::Error) -> bool {
    error.raw_os_error().is_some()
}

/// Counts what is taken.
struct Counted<R> {
    reader: R,
    bytes: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.bytes += amount as u64;
        self.reader.consume(amount);
    }
}

/// Packs one frame after the other.
pub(super) enum Encoder {
    Plain,
    Zstd(Option<zstd::stream::write::Encoder<'static, Vec<u8>>>),
    Gzip(Option<flate2::write::GzEncoder<Vec<u8>>>),
}

impl Encoder {
    /// Takes bytes into the present frame, and gives what of it is to be written now.
    pub(super) fn pack<'b>(&mut self, bytes: &'b [u8]) -> io::Result<Cow<'b, [u8]>> {
        match self {
            Self::Plain => Ok(bytes.into()),
            Self::Zstd(frame) => {
                let mut encoder = match frame.take() {
                    Some(encoder) => encoder,
                    None => {
                        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
                        encoder.include_checksum(true)?;
                        encoder
                    }
                };
                encoder.write_all(bytes)?;
                let packed = std::mem::take(encoder.get_mut());
                *frame = Some(encoder);
                Ok(packed.into())
            }
            Self::Gzip(member) => {
                let encoder =
                    member.get_or_insert_with(|| flate2::write::GzEncoder::new(Vec::new(), Compression::default()));
                encoder.write_all(bytes)?;
                Ok(std::mem::take(encoder.get_mut()).into())
            }
        }
    }

    /// Ends the present frame, if there is one, and gives the rest of it.
    pub(super) fn end(&mut self) -> io::Result<Vec<u8>> {
        match self {
            Self::Plain => Ok(Vec::new()),
            Self::Zstd(frame) => frame.take().map_or(Ok(Vec::new()), zstd::stream::write::Encoder::finish),
            Self::Gzip(member) => member.take().map_or(Ok(Vec::new()), flate2::write::GzEncoder::finish),
        }
    }
}
