//! What a reply may have besides its text, to the last character.

use dirigent::ports::Timestamp;
use dirigent::ports::{AllowedMentions, Embed, EmbedAuthor, EmbedFooter, ReplyError, RoleId};
use dirigent::{MessageId, Reply, UserId};

fn check(embed: Embed) -> Result<(), ReplyError> {
    Reply::Pass.embed(embed).check()
}

fn too_long(part: &'static str, max: usize) -> Result<(), ReplyError> {
    Err(ReplyError::TooLong { embed: 0, part, chars: max + 1, max })
}

#[test]
fn each_text_of_an_embed_has_its_limit() {
    type Part = (&'static str, usize, fn(String) -> Embed);
    let parts: [Part; 6] = [
        ("title", 256, |text| Embed::new().title(text)),
        ("description", 4_096, |text| Embed::new().description(text)),
        ("footer", 2_048, |text| Embed::new().footer(text)),
        ("author", 256, |text| Embed::new().author(text)),
        ("name of a field", 256, |text| Embed::new().field(text, "value", false)),
        ("value of a field", 1_024, |text| Embed::new().field("name", text, false)),
    ];
    for (part, max, embed) in parts {
        assert_eq!(check(embed("ü".repeat(max))), Ok(()), "{part}");
        assert_eq!(check(embed("ü".repeat(max + 1))), too_long(part, max));
    }
}

#[test]
fn a_name_a_value_a_footer_and_an_author_are_not_blank() {
    let blank = |part| Err(ReplyError::Blank { embed: 0, part });
    assert_eq!(check(Embed::new().field(" ", "value", true)), blank("name of a field"));
    assert_eq!(check(Embed::new().field("name", "\n", true)), blank("value of a field"));
    assert_eq!(check(Embed::new().footer("")), blank("footer"));
    assert_eq!(check(Embed::new().author("\t")), blank("author"));
}

#[test]
fn an_embed_shows_something() {
    let nothing = Err(ReplyError::EmptyEmbed { embed: 0 });
    assert_eq!(check(Embed::new()), nothing);
    let bare = Embed::new().title(" ").description("").colour(7).url("https://example.org");
    assert_eq!(check(bare), nothing);
    assert_eq!(check(Embed::new().thumbnail("https://example.org/i.png")), Ok(()));
}

#[test]
fn addresses_are_of_the_web() {
    let bad = |part| Err(ReplyError::BadAddress { embed: 0, part });
    for address in ["", "example.org", "ftp://example.org", "https://", "https://a b"] {
        assert_eq!(check(Embed::new().title("t").url(address)), bad("address"), "{address}");
        assert_eq!(check(Embed::new().image(address)), bad("image"), "{address}");
        assert_eq!(check(Embed::new().thumbnail(address)), bad("thumbnail"), "{address}");
        let icon_url = Some(address.to_owned());
        let footer = EmbedFooter { icon_url: icon_url.clone(), ..EmbedFooter::new("f") };
        let footer = Embed { footer: Some(footer), ..Embed::new() };
        assert_eq!(check(footer), bad("icon of the footer"), "{address}");
        let author = EmbedAuthor { icon_url: icon_url.clone(), ..EmbedAuthor::new("a") };
        let author = Embed { author: Some(author), ..Embed::new() };
        assert_eq!(check(author), bad("icon of the author"), "{address}");
        let author = EmbedAuthor { url: icon_url, ..EmbedAuthor::new("a") };
        let author = Embed { author: Some(author), ..Embed::new() };
        assert_eq!(check(author), bad("address of the author"), "{address}");
    }
    let long = format!("http://{}", "x".repeat(2_042));
    assert_eq!(check(Embed::new().title("t").url(&long[..2_048])), Ok(()));
    assert_eq!(check(Embed::new().title("t").url(long)), too_long("address", 2_048));
}

#[test]
fn a_colour_has_24_bits_and_a_moment_a_year_of_four_digits() {
    let title = || Embed::new().title("t");
    assert_eq!(check(title().colour(0xff_ff_ff)), Ok(()));
    assert_eq!(check(title().colour(0x1_00_00_00)), Err(ReplyError::BadColour { embed: 0 }));
    let last = Timestamp::from_millis(253_402_300_799_999);
    assert_eq!(check(title().timestamp(last)), Ok(()));
    let beyond = Timestamp::from_millis(last.as_millis() + 1);
    assert_eq!(check(title().timestamp(beyond)), Err(ReplyError::BadTimestamp { embed: 0 }));
}

#[test]
fn an_embed_has_25_fields_a_reply_10_embeds_and_they_6_000_characters_together() {
    let fields = |count| (0..count).fold(Embed::new(), |embed, _| embed.field("n", "v", true));
    assert_eq!(check(fields(25)), Ok(()));
    let beyond = Err(ReplyError::TooManyFields { embed: 0, fields: 26 });
    assert_eq!(check(fields(26)), beyond);

    let with = |reply: Reply, count| (0..count).fold(reply, |reply, _| reply.embed(fields(1)));
    assert_eq!(with(Reply::from("text"), 10).check(), Ok(()));
    assert_eq!(with(Reply::from("text"), 11).check(), Err(ReplyError::TooManyEmbeds(11)));

    // Every text counts, and no address does.
    let full = Embed::new().description("d".repeat(4_000)).title("t".repeat(100)).footer("f");
    let full = full.author("a").field("n", "v", true).url("https://example.org");
    let rest = 6_000 - 4_000 - 100 - 4;
    let reply = |chars| {
        let more = Embed::new().description("d".repeat(chars));
        Reply::text("x".repeat(9_000)).embed(full.clone()).embed(more)
    };
    assert_eq!(reply(rest).check(), Ok(()));
    assert_eq!(reply(rest + 1).check(), Err(ReplyError::EmbedsTooLong(6_001)));
}

#[test]
fn a_hundred_users_and_a_hundred_roles_may_be_pinged() {
    let users =
        |count| (0..count).map(UserId::new).fold(AllowedMentions::new(), AllowedMentions::user);
    let roles = |count| (0..count).map(RoleId::new).fold(users(100), AllowedMentions::role);
    let check = |mentions| Reply::from("text").allowed_mentions(mentions).check();
    assert_eq!(check(roles(100)), Ok(()));
    assert_eq!(check(users(101)), Err(ReplyError::TooManyMentions(101)));
    assert_eq!(check(roles(101)), Err(ReplyError::TooManyMentions(101)));
    assert_eq!(users(5).user(UserId::new(3)).users.len(), 5, "each once");
}

#[test]
fn a_reply_and_its_error_show_no_text() {
    let embed = Embed::new().title("confidential").description("confidential");
    let embed = embed.field("confidential", "confidential", true).author("confidential");
    let reply = Reply::text("confidential").embed(embed.footer("confidential"));
    let shown = format!("{reply:?} {reply:#?}");
    assert!(!shown.contains("confidential"), "{shown}");
    let refused = reply.to(MessageId::new(1)).embed(Embed::new().image("confidential"));
    let error = refused.check().unwrap_err();
    assert!(!format!("{error} {error:?}").contains("confidential"), "{error}");
}
