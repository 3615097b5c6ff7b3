//! COMPRESSED and COMPRESSED2 records (`perf record -z`): one zstd stream over all of them, holding further records.

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use super::bytes::{Bytes, Order};
use super::records::{self, RawRecord};

/// What one record may inflate to. perf fills a record of 64 KiB at most from one ring buffer, whose records hardly
/// shrink to a thousandth.
const PIECE_BYTES_MAX: usize = 64 << 20;
const STEP_BYTES: usize = 256 << 10;

/// The stream so far.
#[derive(Default)]
pub struct Inflater {
    decoder: Option<Decoder<'static>>,
    /// The beginning of a record whose rest comes with the next piece.
    begun: Vec<u8>,
}

impl Inflater {
    /// The next piece: what was kept from the one before, and what this record holds.
    pub fn inflate(&mut self, record: &RawRecord<'_>, order: Order) -> Result<Vec<u8>, String> {
        let mut packed = Bytes::new(record.body, order);
        let packed = match record.kind {
            // COMPRESSED2 says how much of its body is not padding.
            records::COMPRESSED2 => packed.u64().and_then(|size| packed.take(size)).ok_or("its size is past its end")?,
            _ => record.body,
        };
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            None => self.decoder.insert(Decoder::new().map_err(|error| error.to_string())?),
        };
        let mut piece = std::mem::take(&mut self.begun);
        let mut step = vec![0; STEP_BYTES];
        let mut input = InBuffer::around(packed);
        loop {
            let mut output = OutBuffer::around(&mut step[..]);
            decoder.run(&mut input, &mut output).map_err(|error| error.to_string())?;
            let full = output.pos() == STEP_BYTES;
            piece.extend_from_slice(output.as_slice());
            if piece.len() > PIECE_BYTES_MAX {
                return Err(format!("a record inflates to more than {PIECE_BYTES_MAX} bytes"));
            }
            if !full && input.pos() >= packed.len() {
                return Ok(piece);
            }
        }
    }

    /// Keeps the beginning of a record for the next piece.
    pub fn keep(&mut self, rest: &[u8]) {
        self.begun = rest.to_vec();
    }
}
