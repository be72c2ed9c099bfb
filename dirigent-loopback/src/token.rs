//! Tokens: whose they are can be told from themselves.

use dirigent::UserId;

/// The letters of base64 as addresses have it.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A bot's token, in the form that Discord's have: the account's id, a moment, a signature.
pub(super) fn of(bot: UserId) -> String {
    let signed = bot.get().wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let signature = format!("{signed:016x}{:016x}", signed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    format!("{}.{}.{signature}", base64(bot.to_string().as_bytes()), "GLoopb")
}

/// Whose token it is, if it is one.
pub(super) fn holder(token: &str) -> Option<UserId> {
    let (id, _) = token.split_once('.')?;
    let bot = UserId::new(String::from_utf8(unbase64(id)?).ok()?.parse().ok()?);
    (of(bot) == token).then_some(bot)
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_usize, |word, byte| word << 8 | usize::from(*byte));
        let word = word << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            let letter = LETTERS.get(word >> (18 - 6 * place) & 63);
            text.extend(letter.map(|letter| char::from(*letter)));
        }
    }
    text
}

fn unbase64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut word, mut bits) = (0_usize, 0);
    for letter in text.bytes() {
        let value = LETTERS.iter().position(|known| *known == letter)?;
        word = (word << 6 | value) & 0xfff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(word >> bits & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_tells_whose_it_is_and_a_forged_one_does_not() {
        for id in [1, 123_456_789_012_345_678, u64::MAX] {
            let token = of(UserId::new(id));
            assert_eq!(holder(&token), Some(UserId::new(id)));
            assert_eq!(holder(&token.replace("GLoopb", "Gother")), None);
        }
        let (one, other) = (of(UserId::new(11)), of(UserId::new(12)));
        let forged = format!("{}.{}", &one[..3], other.split_once('.').unwrap().1);
        assert_eq!(holder(&forged), None);
        assert_eq!(holder("token"), None);
        assert_eq!(base64(b"80351110224678912"), "ODAzNTExMTAyMjQ2Nzg5MTI");
    }
}
