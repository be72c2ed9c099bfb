// Lets a bot on discord.js ask Dirigent for its turns. Copy this file beside your bot: it needs Node 20, and nothing else.
//
//     const dirigent = new Dirigent("http://127.0.0.1:8131", "bots.SECRET", "critic");
//     client.on(Events.MessageCreate, async (message) => {
//       if (!message.mentions.users.has(client.user.id)) return;
//       const words = await dirigent.answer(message, think);
//       if (words) await message.channel.send(words);
//     });

import { setTimeout as sleep } from "node:timers/promises";

export class Dirigent {
  constructor(url, secret, agent) {
    this.url = `${url}/v1`;
    this.agent = agent;
    this.headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  }

  /** Returns the words that you may post now, or null. `think(begun)` calls your model, and returns words or null. */
  async answer(message, think) {
    const run = { agent: this.agent, channel: message.channelId, run: message.id };
    const begun = await this.ask("begin", run, 4_000);
    if (!begun?.allowed) return null; // also without an answer: whoever does not know that it has the floor is silent
    let end = { outcome: "failed" };
    let words, ended;
    try {
      words = await think(begun);
      end = words ? { outcome: "spoke", text: words } : { outcome: "pass" };
    } finally {
      ended = await this.ask("end", { ...run, ...end }, 15_000);
    }
    return words && ended?.accepted ? words : null;
  }

  /** Says every 5 s that the agent is alive. Begin it when your bot is ready; it never ends. */
  async stay() {
    for (;; await sleep(5_000)) await this.ask("heartbeat", { agents: [this.agent] }, 5_000);
  }

  /** Asks until there is an answer or the time is over. What is asked twice counts once. */
  async ask(path, body, milliseconds) {
    const until = Date.now() + milliseconds;
    for (; Date.now() < until; await sleep(500)) {
      let answer, text;
      try {
        const signal = AbortSignal.timeout(Math.min(Math.max(until - Date.now(), 1), 5_000));
        answer = await fetch(`${this.url}/${path}`, { method: "POST", headers: this.headers, body: JSON.stringify(body), signal });
        text = await answer.text();
      } catch {
        continue; // no answer, or half of one
      }
      if (answer.status >= 500 || answer.status === 429) continue;
      if (!answer.ok) throw new Error(`Dirigent refuses ${path}: ${text}`);
      return JSON.parse(text);
    }
    return null;
  }
}
