//! CRC-32C (Castagnoli), the checksum of log groups and pages.

/// CRC-32C of `bytes`.
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

#[cfg(test)]
mod tests {
    /// The check value of the Rocksoft catalogue.
    #[test]
    fn agrees_with_the_published_check_value() {
        assert_eq!(super::crc32c(b"123456789"), 0xe306_9283);
    }
}
