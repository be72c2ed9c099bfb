//! Tokens that contain their own account.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD;
use dirigent::UserId;

/// Returns a bot's token in Discord's form: the account's id, a time, a signature.
pub(super) fn of(bot: UserId) -> String {
    let signed = bot.get().wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let signature = format!("{signed:016x}{:016x}", signed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    format!("{}.{}.{signature}", URL_SAFE_NO_PAD.encode(bot.to_string()), "GLoopb")
}

/// Returns the account of a token, if it is one.
pub(super) fn holder(token: &str) -> Option<UserId> {
    let (id, _) = token.split_once('.')?;
    let bot = UserId::new(String::from_utf8(URL_SAFE_NO_PAD.decode(id).ok()?).ok()?.parse().ok()?);
    (of(bot) == token).then_some(bot)
}

/// Returns the token of a webhook.
pub(super) fn of_webhook(webhook: UserId) -> String {
    let signed = webhook.get().wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
    let more = signed.wrapping_mul(0x2545_f491_4f6c_dd1d);
    format!("GLoopb{signed:016x}{more:016x}{:016x}", more.rotate_left(31))
}

/// Returns a mark for a picture, which is 32 digits. Equal pictures have equal marks.
pub(super) fn mark(picture: &str) -> String {
    let digest = |from: u64| {
        let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        picture.bytes().fold(from, step)
    };
    format!("{:016x}{:016x}", digest(0xcbf2_9ce4_8422_2325), digest(0x6c62_272e_07bb_0142))
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
        let token = of(UserId::new(80_351_110_224_678_912));
        assert!(token.starts_with("ODAzNTExMTAyMjQ2Nzg5MTI."), "{token}");
    }
}
