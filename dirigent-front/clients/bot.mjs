// A bot on discord.js that asks Dirigent for its turns. `cargo run -p dirigent-front --example table` runs it.

import { Client, Events, GatewayIntentBits as Intents } from "discord.js";

import { Dirigent } from "./dirigent.mjs";

const { DIRIGENT_AGENT, DIRIGENT_SECRET, DIRIGENT_URL, DISCORD_PROXY_URL, DISCORD_TOKEN } = process.env;
const dirigent = new Dirigent(DIRIGENT_URL, DIRIGENT_SECRET, DIRIGENT_AGENT);
const client = new Client({
  rest: { api: `${DISCORD_PROXY_URL}/api` }, // only for a Discord on this machine
  intents: [Intents.Guilds, Intents.GuildMessages],
});
let left = 0; // what it still has to say

/** In the place of a model: two answers to each word of a person. */
async function think({ holdsFloor, missed = [] }) {
  if (!holdsFloor) return `${DIRIGENT_AGENT} answers (${process.hrtime.bigint()})`;
  if (missed.some((message) => message.line.includes("think"))) await new Promise((over) => setTimeout(over, 2_000));
  if (missed.some((message) => message.isPerson)) left = 2;
  left -= 1;
  return left >= 0 ? `${DIRIGENT_AGENT} heard ${missed.length} messages (${process.hrtime.bigint()})` : null;
}

client.once(Events.ClientReady, () => {
  dirigent.stay();
  console.log("ready");
});
client.on(Events.MessageCreate, async (message) => {
  if (!message.mentions.users.has(client.user.id)) return;
  const words = await dirigent.answer(message, think);
  if (words) await message.channel.send(words);
});
await client.login(DISCORD_TOKEN);
