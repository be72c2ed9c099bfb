/** Returns a sentence for each setting with which agents speak out of turn: where it stands, what it is, what to write, and why. */
export function wrongSettings(config = {}, agents = {}) {
  const wrong = new Set();
  const check = (isRight, where, is, write, why) => {
    if (!isRight) wrong.add(`${where} is ${JSON.stringify(is) ?? "not set"}: write ${write}, because otherwise ${why}`);
  };
  const discord = config.channels?.discord ?? {};
  for (const account of Object.keys(agents)) {
    const own = discord.accounts?.[account];
    const isKnown = own !== undefined || account === (discord.defaultAccount ?? "default");
    const known = Object.keys(discord.accounts ?? {});
    check(isKnown, "plugins.entries.dirigent.config.agents", account, `an account of ${JSON.stringify(known)}`, "no agent has this account");
    const at = (key) => (own?.[key] === undefined ? `channels.discord.${key}` : `channels.discord.accounts.${account}.${key}`);
    const set = (key) => own?.[key] ?? discord[key];
    const { mode = "off", block = {} } = set("streaming") ?? {};
    check(set("allowBots") === true, at("allowBots"), set("allowBots"), "true", "the agents do not see each other's words, or their turns");
    check(mode === "off", `${at("streaming")}.mode`, mode, '"off"', "unfinished words are posted");
    check(!block.enabled, `${at("streaming")}.block.enabled`, block.enabled, "false", "pieces of an answer are withheld");
    const native = set("commands")?.native;
    check(native === false, `${at("commands")}.native`, native, "false", "people see a /stop that stops one agent only");
    check(set("joinIntro") === false, at("joinIntro"), set("joinIntro"), "false", "a new bot introduces itself without a turn");
    for (const [guild, { channels = {}, ...all }] of Object.entries(set("guilds") ?? {})) {
      for (const [channel, one] of Object.entries(channels)) {
        const { requireMention = true, users } = { ...all, ...one };
        const place = `${at("guilds")}.${guild}.channels.${channel}`;
        const isOne = users?.length === 1 && users[0] !== "*";
        check(requireMention === true, `${place}.requireMention`, requireMention, "true", "each message asks for a turn");
        check(isOne, `${place}.users`, users, "[the id of the moderator's account]", "people's mentions ask for turns, too");
      }
    }
  }
  const [reactions, memory] = [config.messages?.ackReactionScope, config.plugins?.slots?.memory];
  const every = config.agents?.defaults?.heartbeat?.every;
  check(reactions === "off", "messages.ackReactionScope", reactions, '"off"', "agents react to triggers that are gone");
  check(memory === "none", "plugins.slots.memory", memory, '"none"', "the memory plugin begins runs by itself");
  check(every === "0m", "agents.defaults.heartbeat.every", every, '"0m"', "agents begin runs by themselves");
  return [...wrong];
}
