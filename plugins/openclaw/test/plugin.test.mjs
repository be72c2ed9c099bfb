// The plugin at a front and an OpenClaw that are made up: `node --test` in this folder. `.ci/openclaw` runs it in the real ones.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";

import plugin, { PASS, Table } from "../index.js";
import { wrongSettings } from "../settings.js";

const CHANNEL = "200000000000000009";
const SESSION = `agent:main:discord:channel:${CHANNEL}`;
/** For a front that is not to answer. */
const SHORT = { begin: 200, end: 400 };

/** A front that gives these answers, and a table of one agent at it. An answer is a body, a status, or null for a cut connection. */
async function table(t, answer, times) {
  const asked = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks)) : undefined;
      const path = request.url.replace("/v1/", "");
      asked.push({ path, body, secret: request.headers.authorization });
      const told = answer(path, body, asked);
      if (told === null) request.socket.destroy();
      else if (typeof told === "number") response.writeHead(told).end("{}");
      else response.end(JSON.stringify(told));
    });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  t.after(() => server.close());
  t.after(() => server.closeAllConnections());
  globalThis[Symbol.for("openclaw-dirigent.1")].runs.clear();
  globalThis[Symbol.for("openclaw-dirigent.1")].places.clear();
  const lines = [];
  const say = (line) => lines.push(line);
  const log = { info: say, warn: say, error: say };
  const url = `http://127.0.0.1:${server.address().port}/`;
  const made = new Table({ url, secret: "openclaw.secret", agents: { dev: "developer" }, log, times: { wordless: 20, ...times } });
  return { table: made, asked, lines, url };
}

const yes = (path) => (path === "begin" ? { allowed: true, briefing: "Be brief, or NO_REPLY.", missed: [{ line: "Ada: Hi" }] } : { accepted: true });
const ctx = { channelId: "discord", accountId: "dev", conversationId: CHANNEL, sessionKey: SESSION };
const message = (messageId) => ({ messageId, sessionKey: SESSION, isGroup: true });
const reply = (text, more) => ({ payload: { text, ...more }, kind: "final", sessionKey: SESSION });
const said = (text) => ({ success: true, messages: [{ role: "assistant", content: [{ type: "text", text }] }] });

test("a run that is allowed speaks once its end is accepted", async (t) => {
  const { table: here, asked } = await table(t, yes);
  assert.equal(await here.dispatch(message("7"), ctx), undefined);
  assert.deepEqual(await here.run(ctx), { outcome: "pass" });
  assert.deepEqual(here.prompt(ctx), {
    appendSystemContext: `Be brief, or ${PASS}.`,
    prependContext: "Said since your last turn:\nAda: Hi",
  });
  assert.equal(await here.post(reply("Hello."), { ...ctx, messageId: "7" }), undefined);
  const run = { agent: "developer", channel: CHANNEL, run: "7" };
  assert.deepEqual(asked.map((it) => [it.path, it.body]), [["begin", run], ["begin", run], ["end", { ...run, outcome: "spoke", text: "Hello." }]]);
  assert.equal(asked[0].secret, "Bearer openclaw.secret");
  assert.equal((await here.run(ctx)).outcome, "block", "its turn is over");
});

test("without a permit, an answer or a right secret nothing runs", async (t) => {
  for (const answer of [{ allowed: false, reason: "another agent has the floor" }, {}, 401, 421, 500, null]) {
    const { table: here } = await table(t, () => answer, SHORT);
    assert.deepEqual(await here.dispatch(message("7"), ctx), { handled: true }, JSON.stringify(answer));
    assert.equal((await here.run(ctx)).outcome, "block");
    assert.deepEqual(await here.post(reply("Hello."), ctx), { cancel: true });
  }
});

test("a message without an id is not answered", async (t) => {
  const { table: here, asked } = await table(t, yes);
  assert.deepEqual(await here.dispatch(message(undefined), ctx), { handled: true });
  assert.equal(asked.length, 0);
});

test("a turn that is taken away between the two locks does not reach the model", async (t) => {
  const { table: here } = await table(t, (path, _body, asked) => (asked.length === 1 ? yes(path) : { allowed: false }));
  await here.dispatch(message("7"), ctx);
  assert.equal((await here.run(ctx)).outcome, "block");
});

test("words are not posted if the end is refused, or never answered", async (t) => {
  for (const refusal of [{ accepted: false }, 403, 500, null]) {
    const { table: here } = await table(t, (path) => (path === "begin" ? yes(path) : refusal), { end: 400 });
    await here.dispatch(message("7"), ctx);
    assert.deepEqual(await here.post(reply("Hello."), ctx), { cancel: true }, JSON.stringify(refusal));
  }
});

test("an end is told again until it is taken, and words of one run are told once", async (t) => {
  let lost = 2;
  const { table: here, asked } = await table(t, (path) => (path === "end" && lost-- > 0 ? null : yes(path)));
  await here.dispatch(message("7"), ctx);
  const both = await Promise.all([here.post(reply("Hello."), ctx), here.post(reply("And more."), ctx)]);
  assert.deepEqual(both, [undefined, undefined]);
  assert.deepEqual(asked.filter((it) => it.path === "end").map((it) => it.body.text), ["Hello.", "Hello.", "Hello."]);
});

test("a pass is silent, in each of its forms", async (t) => {
  for (const word of [PASS, "[[PASS]]\n", "NO_REPLY", "**NO_REPLY**", "HEARTBEAT_OK", " "]) {
    const { table: here, asked } = await table(t, yes);
    await here.dispatch(message("7"), ctx);
    assert.deepEqual(await here.post(reply(word), ctx), { cancel: true }, word);
    assert.equal(asked.at(-1).body.outcome, "pass", word);
  }
  const { table: here, asked, lines } = await table(t, yes);
  await here.dispatch(message("7"), ctx);
  await here.over(said("NO_REPLY"), ctx);
  assert.equal(asked.at(-1).body.outcome, "pass", "OpenClaw posts nothing for it");
  assert.deepEqual(await here.post(reply("I have nothing to say."), ctx), { cancel: true }, "OpenClaw misses the words");
  assert.deepEqual(lines, []);
  assert.equal(asked.filter((it) => it.path === "end").length, 1);
});

test("what OpenClaw says by itself is not posted, and its run has failed", async (t) => {
  for (const words of [reply("⚠️ Agent couldn't generate a response. Please try again."), reply("429", { isError: true })]) {
    const { table: here, asked } = await table(t, yes);
    await here.dispatch(message("7"), ctx);
    assert.deepEqual(await here.post(words, ctx), { cancel: true });
    assert.equal(asked.at(-1).body.outcome, "failed");
  }
});

test("reasoning and pieces are withheld, and the answer after them is posted", async (t) => {
  const { table: here } = await table(t, yes);
  await here.dispatch(message("7"), ctx);
  assert.deepEqual(await here.post(reply("Hm.", { isReasoning: true }), ctx), { cancel: true });
  assert.deepEqual(await here.post({ ...reply("Hel"), kind: "block" }, ctx), { cancel: true });
  assert.equal(await here.post(reply("Hello."), ctx), undefined);
});

test("a run whose words never come has failed", async (t) => {
  const { table: here, asked } = await table(t, yes);
  await here.dispatch(message("7"), ctx);
  await here.over({ success: false, messages: [] }, ctx);
  while (asked.length < 2) await new Promise((over) => setTimeout(over, 5));
  assert.equal(asked.at(-1).body.outcome, "failed");
});

test("words of another run, of none, and of the message tool need a turn, too", async (t) => {
  const { table: here } = await table(t, yes);
  const to = { to: `channel:${CHANNEL}`, content: "Hello." };
  assert.equal(await here.send(to, ctx), undefined, "no turns are known here");
  assert.equal((await here.run(ctx)).outcome, "block", "no message began it");
  assert.deepEqual(await here.post(reply("Late."), ctx), { cancel: true });
  await here.dispatch(message("8"), ctx);
  assert.deepEqual(await here.post(reply("Late."), { ...ctx, messageId: "7" }), { cancel: true });
  assert.equal(await here.send(to, ctx), undefined, "it is its turn");
  await here.post(reply(PASS), ctx);
  assert.deepEqual(await here.send(to, ctx), { cancel: true }, "its turn is over");
});

test("other accounts, other programs and private messages go on as they were", async (t) => {
  const { table: here, asked } = await table(t, () => 500);
  const direct = { ...ctx, sessionKey: "agent:main:discord:direct:5" };
  for (const [event, where] of [
    [message("7"), { ...ctx, accountId: "other" }],
    [message("7"), { ...ctx, accountId: "toString" }],
    [message("7"), { ...ctx, channelId: "slack" }],
    [{ ...message("7"), isGroup: false }, direct],
  ]) {
    assert.equal(await here.dispatch(event, where), undefined);
  }
  assert.deepEqual(await here.run({ ...ctx, accountId: "other" }), { outcome: "pass" });
  assert.deepEqual(await here.run(direct), { outcome: "pass" });
  assert.equal(await here.post({ ...reply("Hello."), sessionKey: direct.sessionKey }, direct), undefined);
  assert.equal(await here.send({ to: "user:5" }, ctx), undefined);
  assert.equal(asked.length, 0);
});

test("a heartbeat names the agents of connected accounts, and no others", async (t) => {
  const { table: here, asked } = await table(t, () => ({}));
  await here.beat([]);
  await here.beat(["other"]);
  await here.beat(["dev", "other"]);
  assert.deepEqual(asked.map((it) => it.body), [{ agents: ["developer"] }]);
});

test("the front's tools are OpenClaw's, in a channel of the agent only", async (t) => {
  const { table: here, asked } = await table(t, (path) => (path.startsWith("tools/") ? { channelId: "5" } : 500));
  const shared = globalThis[Symbol.for("openclaw-dirigent.1")];
  shared.tools = [{ name: "create-chat-channel", description: "Creates.", parameters: { type: "object" } }];
  t.after(() => (shared.tools = []));
  const mine = { agentAccountId: "dev", sessionKey: SESSION };
  assert.equal(here.tools({ ...mine, agentAccountId: "other" }), null);
  assert.equal(here.tools({ ...mine, sessionKey: "agent:main:main" }), null);
  const [tool] = here.tools(mine);
  assert.equal(tool.description, "Creates.");
  const answer = await tool.execute("call", { name: "news" });
  assert.deepEqual(answer.details, { channelId: "5" });
  assert.deepEqual(asked[0].body, { agent: "developer", channel: CHANNEL, arguments: { name: "news" } });
});

/** What the plugin registers at an OpenClaw. */
function registered(pluginConfig, config = {}) {
  const [hooks, tools, services, lines] = [{}, [], [], []];
  const say = (line) => lines.push(line);
  plugin.register({
    config,
    pluginConfig,
    logger: { info: say, warn: say, error: say },
    on: (name, hook, options) => (hooks[name] = { hook, ...options }),
    registerTool: (tool, options) => tools.push(...options.names),
    registerService: (service) => services.push(service),
  });
  return { hooks, tools, services, lines };
}

test("a hook that fails is closed, and ends before OpenClaw gives it up", async () => {
  const { hooks, lines } = registered({ url: "http://127.0.0.1:1", agents: { dev: "developer" } });
  const broken = new Proxy({}, { get: () => { throw new Error("broken"); } });
  const closed = { before_dispatch: { handled: true }, reply_payload_sending: { cancel: true }, message_sending: { cancel: true } };
  for (const [name, answer] of Object.entries(closed)) assert.deepEqual(await hooks[name].hook(broken, broken), answer, name);
  assert.equal((await hooks.before_agent_run.hook(broken, broken)).outcome, "block");
  assert.equal(await hooks.agent_end.hook(broken, broken), undefined);
  assert.deepEqual(await hooks.before_dispatch.hook(), undefined, "no event is none of Discord's");
  assert.equal(lines.length, 5);
  for (const { timeoutMs } of Object.values(hooks)) assert.ok(timeoutMs > 15_000 + 5_000);
});

test("a run goes on over a hot reload, and ends once if the plugin is loaded twice", async (t) => {
  const { asked, url } = await table(t, yes);
  const settings = { url, secret: "openclaw.secret", agents: { dev: "developer" } };
  const both = [registered(settings).hooks, registered(settings).hooks];
  assert.equal(await both[0].before_dispatch.hook(message("7"), ctx), undefined);
  assert.deepEqual(await both[1].before_agent_run.hook({}, ctx), { outcome: "pass" });
  const posted = await Promise.all(both.map((hooks) => hooks.reply_payload_sending.hook(reply("Hello."), ctx)));
  assert.deepEqual(posted, [undefined, undefined]);
  assert.equal(asked.filter((it) => it.path === "end").length, 1);
});

test("the manifest has the tools, and the settings that there are", () => {
  const manifest = JSON.parse(readFileSync(new URL("../openclaw.plugin.json", import.meta.url)));
  assert.deepEqual(registered({ agents: {} }).tools, manifest.contracts.tools);
  assert.deepEqual(Object.keys(manifest.configSchema.properties), ["url", "secret", "agents"]);
  assert.equal(manifest.id, plugin.id);
});

const RIGHT = {
  channels: {
    discord: {
      allowBots: true,
      commands: { native: false },
      joinIntro: false,
      accounts: { dev: {} },
      guilds: { 1: { requireMention: true, channels: { 2: { users: ["9"] } } } },
    },
  },
  messages: { ackReactionScope: "off" },
  plugins: { slots: { memory: "none" } },
  agents: { defaults: { heartbeat: { every: "0m" } } },
};

test("right settings are silent, and each wrong one is named once with what to write", () => {
  assert.deepEqual(wrongSettings(RIGHT, { dev: "developer" }), []);
  const wrong = [
    [(it) => (it.channels.discord.allowBots = "mentions"), 'channels.discord.allowBots is "mentions": write true'],
    [(it) => (it.channels.discord.accounts.dev.allowBots = false), "channels.discord.accounts.dev.allowBots is false: write true"],
    [(it) => delete it.channels.discord.commands, "channels.discord.commands.native is not set: write false"],
    [(it) => delete it.channels.discord.joinIntro, "channels.discord.joinIntro is not set: write false"],
    [(it) => (it.channels.discord.streaming = { mode: "partial" }), 'channels.discord.streaming.mode is "partial": write "off"'],
    [(it) => (it.channels.discord.streaming = { block: { enabled: true } }), "channels.discord.streaming.block.enabled is true: write false"],
    [(it) => (it.channels.discord.guilds[1].requireMention = false), "channels.discord.guilds.1.channels.2.requireMention is false: write true"],
    [(it) => (it.channels.discord.guilds[1].channels[2].users = ["*"]), 'channels.discord.guilds.1.channels.2.users is ["*"]: write [the id'],
    [(it) => (it.messages = {}), 'messages.ackReactionScope is not set: write "off"'],
    [(it) => (it.plugins = {}), 'plugins.slots.memory is not set: write "none"'],
    [(it) => (it.agents = {}), 'agents.defaults.heartbeat.every is not set: write "0m"'],
    [(it) => (it.channels.discord.accounts = { devel: {} }), 'plugins.entries.dirigent.config.agents is "dev": write an account of ["devel"]'],
  ];
  for (const [change, begins] of wrong) {
    const config = structuredClone(RIGHT);
    change(config);
    const told = wrongSettings(config, { dev: "developer" });
    assert.equal(told.length, 1, `${begins}: ${told}`);
    assert.ok(told[0].startsWith(begins), told[0]);
  }
  assert.ok(wrongSettings({}, { dev: "developer" }).length > 5);
});
