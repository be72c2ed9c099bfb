//! Lists that come page by page.

use super::*;

#[tokio::test(flavor = "current_thread")]
async fn messages_come_newest_first_from_wherever_is_asked() {
    let stage = RestStage::new().await;
    let path = format!("channels/{}/messages", stage.channel);
    let say = |number| stage.discord.say(stage.channel, stage.owner, format!("{number}")).get();
    let all: Vec<u64> = (0..9).map(say).collect();
    let page = |from: &[usize]| -> Vec<u64> { from.iter().map(|place| all[*place]).collect() };
    let cases = [
        (String::new(), page(&[8, 7, 6, 5, 4, 3, 2, 1, 0])),
        ("?limit=2".to_owned(), page(&[8, 7])),
        // The page next to the id, not the newest.
        (format!("?limit=3&after={}", all[1]), page(&[4, 3, 2])),
        (format!("?limit=3&after={}", all[7]), page(&[8])),
        (format!("?after={}", all[8]), Vec::new()),
        ("?limit=3&after=0".to_owned(), page(&[2, 1, 0])),
        (format!("?limit=3&before={}", all[4]), page(&[3, 2, 1])),
        (format!("?before={}", all[0]), Vec::new()),
        (format!("?limit=3&around={}", all[4]), page(&[5, 4, 3])),
        (format!("?limit=4&around={}", all[8]), page(&[8, 7])),
    ];
    for (query, expected) in cases {
        let found = stage.get(&format!("{path}{query}")).await.ids();
        assert_eq!(found, expected, "{query}");
    }
    stage.discord.channel(stage.channel).set_history_hidden(stage.bot, true);
    let answer = stage.get(&path).await;
    assert_eq!((answer.status, answer.ids()), (200, Vec::new()), "an empty list, and no error");
}

fn users(answer: &Answer) -> Vec<u64> {
    let list = answer.json();
    let ids = list.as_array().unwrap().iter().map(|member| &member["user"]["id"]);
    ids.map(|id| id.as_str().unwrap().parse().unwrap()).collect()
}

/// One member is all that comes unasked, and the list takes the members intent.
#[tokio::test(flavor = "current_thread")]
async fn members_come_by_rising_id_one_unless_more_are_asked_for() {
    let stage = RestStage::new().await;
    for _ in 0..4 {
        let user = stage.discord.add_human();
        stage.discord.guild(stage.guild).add_member(user);
    }
    let path = format!("guilds/{}/members", stage.guild);
    assert_eq!(users(&stage.get(&path).await), [stage.owner.get()]);
    let all = users(&stage.get(&format!("{path}?limit=1000")).await);
    assert_eq!(all.len(), 7);
    assert!(all.is_sorted());
    let mut read = Vec::new();
    let mut after = 0;
    loop {
        let page = users(&stage.get(&format!("{path}?limit=3&after={after}")).await);
        let Some(last) = page.last() else { break };
        after = *last;
        read.extend(page);
    }
    assert_eq!(read, all);
    assert_eq!(stage.get(&format!("{path}?limit=1001")).await.refusal(), (400, 50035));
    stage.discord.account(stage.bot).set_members_hidden(true);
    assert_eq!(stage.get(&format!("{path}?limit=10")).await.refusal(), (403, 50001));
    assert_eq!(stage.get(&format!("{path}/{}", stage.owner)).await.status, 200, "one by id");
    let found = stage.get(&format!("{path}/search?query=PERSON-1&limit=10")).await;
    assert_eq!(users(&found), [stage.owner.get()], "by name without the intent");
}

#[tokio::test(flavor = "current_thread")]
async fn guilds_come_by_rising_id_forwards_and_backwards() {
    let stage = RestStage::new().await;
    for _ in 0..4 {
        let guild = stage.discord.add_guild(stage.owner);
        stage.discord.guild(guild).add_member(stage.bot);
    }
    stage.discord.add_guild(stage.owner);
    let all = stage.get("users/@me/guilds").await.ids();
    assert_eq!(all.len(), 5, "those in which the bot is");
    assert!(all.is_sorted());
    let after = stage.get(&format!("users/@me/guilds?limit=2&after={}", all[0])).await;
    assert_eq!(after.ids(), &all[1..3]);
    let before = stage.get(&format!("users/@me/guilds?limit=2&before={}", all[4])).await;
    assert_eq!(before.ids(), &all[2..4]);
    assert_eq!(stage.get("users/@me/guilds?limit=201").await.refusal(), (400, 50035));
}
