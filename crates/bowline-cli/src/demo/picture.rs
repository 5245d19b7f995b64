//! A picture of a knot, drawn pixel by pixel.

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// Width and height.
const SIZE: u32 = 32;
/// Background, rope, and the edge of the rope.
const COLOURS: [[u8; 3]; 3] = [[255, 255, 255], [214, 170, 104], [120, 84, 40]];

/// Returns the picture as a PNG file.
pub(super) fn png() -> Vec<u8> {
    let mut header = Vec::new();
    header.extend(SIZE.to_be_bytes());
    header.extend(SIZE.to_be_bytes());
    // One byte per pixel, from a palette, no options.
    header.extend([8, 3, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, *b"IHDR", &header);
    chunk(&mut file, *b"PLTE", &COLOURS.concat());
    // The first colour is transparent.
    chunk(&mut file, *b"tRNS", &[0]);
    chunk(&mut file, *b"IDAT", &zlib_stored(&rows()));
    chunk(&mut file, *b"IEND", &[]);
    file
}

/// Returns the picture in base64.
pub(super) fn base64() -> String {
    STANDARD.encode(png())
}

/// Returns the pixels row by row; each row begins with its filter, which is
/// none.
fn rows() -> Vec<u8> {
    let mut rows = Vec::new();
    for y in 0..SIZE {
        rows.push(0);
        rows.extend((0..SIZE).map(|x| colour(f64::from(x), f64::from(y))));
    }
    rows
}

/// Draws a loop, and the rope that leads to it.
fn colour(x: f64, y: f64) -> u8 {
    let from_loop = ((x - 16.0).hypot(y - 19.0) - 8.5).abs();
    let from_rope = if y < 19.0 {
        (x - 16.0 - (y - 11.0) / 3.0).abs()
    } else {
        f64::MAX
    };
    match from_loop.min(from_rope) {
        distance if distance < 1.6 => 1,
        distance if distance < 2.8 => 2,
        _ => 0,
    }
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let mut body = kind.to_vec();
    body.extend(data);
    let length = body.len() as u32 - 4;
    file.extend(length.to_be_bytes());
    file.extend(&body);
    file.extend(crc32(&body).to_be_bytes());
}

/// Wraps the data in the zlib format without compression: it fits one block.
fn zlib_stored(data: &[u8]) -> Vec<u8> {
    let length = data.len() as u16;
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(data);
    stream.extend(adler32(data).to_be_bytes());
    stream
}

fn crc32(data: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), step);
    !data.iter().fold(u32::MAX, byte)
}

fn adler32(data: &[u8]) -> u32 {
    let add = |(low, high): (u32, u32), byte: &u8| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    };
    let (low, high) = data.iter().fold((1, 0), add);
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_standards() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn the_knot_has_all_colours() {
        let rows = rows();
        let pixels: Vec<_> = rows
            .chunks(SIZE as usize + 1)
            .map(|row| &row[1..])
            .collect();
        assert_eq!(pixels.len(), SIZE as usize);
        for colour in 0..COLOURS.len() as u8 {
            assert!(pixels.iter().any(|row| row.contains(&colour)), "{colour}");
        }
    }
}
