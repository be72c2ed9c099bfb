//! What a member may do in a channel, by `GUILD_CREATE` and the table of `verify/assumptions.md`.

use serde_json::Value;

use super::account::id_in;

const ADMINISTRATOR: u64 = 1 << 3;
pub(crate) const MANAGE_MESSAGES: u64 = 1 << 13;
pub(crate) const READ_MESSAGE_HISTORY: u64 = 1 << 16;

fn bits(object: &Value, name: &str) -> u64 {
    object.get(name).and_then(Value::as_str).and_then(|bits| bits.parse().ok()).unwrap_or(0)
}

fn list<'a>(object: &'a Value, name: &str) -> Option<&'a Vec<Value>> {
    object.get(name)?.as_array()
}

/// The permissions of a user whose member is in the data of a `GUILD_CREATE`; none where the data lacks the channel, the
/// member or the roles.
pub(crate) fn rights(guild: &Value, channel: u64, user: u64) -> Option<u64> {
    let everyone = id_in(guild)?;
    let mut members = list(guild, "members")?.iter();
    let member = members.find(|member| member.get("user").and_then(id_in) == Some(user))?;
    let own: Vec<u64> = list(member, "roles")?.iter().filter_map(as_id).collect();
    let has = |role: u64| role == everyone || own.contains(&role);
    let roles = list(guild, "roles")?.iter();
    let roles = roles.filter(|role| id_in(role).is_some_and(has));
    let base = roles.fold(0, |all, role| all | bits(role, "permissions"));
    if guild.get("owner_id").and_then(as_id) == Some(user) || base & ADMINISTRATOR != 0 {
        return Some(u64::MAX);
    }
    let in_list = |name: &str, id: u64| list(guild, name)?.iter().find(|it| id_in(it) == Some(id));
    // A thread has the overwrites of its parent.
    let parent =
        in_list("threads", channel).and_then(|thread| thread.get("parent_id")).and_then(as_id);
    let channel = in_list("channels", parent.unwrap_or(channel))?;
    let overwrites = list(channel, "permission_overwrites")?;
    let changed = |allowed: u64, is_meant: &dyn Fn(u64) -> bool| {
        let meant = overwrites.iter().filter(|overwrite| id_in(overwrite).is_some_and(is_meant));
        let (allow, deny) = meant.fold((0, 0), |(allow, deny), overwrite| {
            (allow | bits(overwrite, "allow"), deny | bits(overwrite, "deny"))
        });
        allowed & !deny | allow
    };
    let allowed = changed(base, &|id| id == everyone);
    let allowed = changed(allowed, &|id| id != everyone && own.contains(&id));
    Some(changed(allowed, &|id| id == user))
}

fn as_id(value: &Value) -> Option<u64> {
    value.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const HISTORY: u64 = READ_MESSAGE_HISTORY;
    const MANAGE: u64 = MANAGE_MESSAGES;

    /// What user 9 with role 2 may do in channel 7 of guild 1, with these overwrites: id, allow, deny.
    fn with(roles: [u64; 3], overwrites: &[(u64, u64, u64)], owner: u64) -> u64 {
        let role = |(id, bits): (usize, u64)| json!({ "id": id.to_string(), "permissions": bits.to_string() });
        let overwrite = |(id, allow, deny): &(u64, u64, u64)| json!({ "id": id.to_string(), "allow": allow.to_string(), "deny": deny.to_string() });
        let guild = json!({
            "id": "1",
            "owner_id": owner.to_string(),
            "roles": (1..).zip(roles).map(role).collect::<Vec<_>>(),
            "members": [{ "user": { "id": "9" }, "roles": ["2"] }],
            "channels": [{
                "id": "7",
                "permission_overwrites": overwrites.iter().map(overwrite).collect::<Vec<_>>(),
            }],
            "threads": [{ "id": "8", "parent_id": "7" }],
        });
        assert_eq!(rights(&guild, 8, 9), rights(&guild, 7, 9), "a thread is as its parent");
        assert_eq!(rights(&guild, 7, 10), None, "no such member");
        rights(&guild, 7, 9).unwrap()
    }

    #[test]
    fn roles_and_overwrites_say_what_a_member_may() {
        let cases = [
            ([HISTORY, MANAGE, 4], &[][..], HISTORY | MANAGE),
            ([HISTORY, 0, MANAGE], &[], HISTORY),
            ([HISTORY, MANAGE, 0], &[(1, 0, MANAGE)], HISTORY),
            ([HISTORY, 0, 0], &[(2, MANAGE, 0)], HISTORY | MANAGE),
            ([HISTORY, 0, 0], &[(1, 0, HISTORY), (2, MANAGE, 0)], MANAGE),
            ([HISTORY, 0, 0], &[(2, 0, HISTORY), (1, HISTORY, 0)], 0),
            ([HISTORY, 0, 0], &[(3, MANAGE, HISTORY)], HISTORY),
            ([HISTORY, MANAGE, 0], &[(9, 0, MANAGE), (2, MANAGE, 0)], HISTORY),
            ([0, 0, 0], &[(9, MANAGE, 0), (2, 0, MANAGE)], MANAGE),
        ];
        for (number, (roles, overwrites, expected)) in cases.into_iter().enumerate() {
            assert_eq!(with(roles, overwrites, 99), expected, "case {number}");
        }
        assert_eq!(with([0, ADMINISTRATOR, 0], &[(9, 0, MANAGE)], 99), u64::MAX);
        assert_eq!(with([0, 0, 0], &[(9, 0, MANAGE)], 9), u64::MAX);
    }
}
