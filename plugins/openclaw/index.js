// openclaw-dirigent: the agents of an OpenClaw ask Dirigent for their turns, and speak only in them.
//
// If anything goes wrong, an agent is silent. A hook of OpenClaw that throws lets the message through, so no hook throws here.

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { wrongSettings } from "./settings.js";

/** A whole answer with which an agent passes. After its own `NO_REPLY` OpenClaw would ask the model again, and post a notice. */
export const PASS = "[[pass]]";
const SILENCE = /^[\s*_`"'([]*(NO_REPLY|HEARTBEAT_OK)[\s*_`"')\].]*$/i;
/** OpenClaw's own words about a run that failed. */
const NOTICE = /^(⚠️|⚙️) Agent /u;
/** Marks of what is said beside an answer. */
const BESIDE = ["isReasoning", "isCommentary", "isStatusNotice", "isCompactionNotice", "isFallbackNotice"];

/** Times in milliseconds. OpenClaw gives a hook up after `hook`, and then posts: what a hook waits for ends before. */
const TIMES = { begin: 4_000, end: 15_000, hook: 25_000, beat: 5_000, pause: 300, wordless: 20_000 };

// The runs by their session, and the places where agents take turns. They are global, because OpenClaw loads a plugin again when its
// settings change, and more than once in a process. The number changes with the form of what is kept.
const shared = (globalThis[Symbol.for("openclaw-dirigent.1")] ??= { runs: new Map(), places: new Set(), tools: [], beating: 0 });

const { contracts } = JSON.parse(readFileSync(new URL("./openclaw.plugin.json", import.meta.url), "utf8"));

/** Dirigent's front. */
class Front {
  constructor(url, secret) {
    this.url = `${url.replace(/\/+$/, "")}/v1`;
    this.headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  }

  /** Asks until there is an answer or the time is over; then it is null. What is asked twice counts once. */
  async ask(path, body, milliseconds) {
    const until = Date.now() + milliseconds;
    const [method, sent] = body ? ["POST", JSON.stringify(body)] : ["GET", undefined];
    for (;;) {
      try {
        const signal = AbortSignal.timeout(Math.max(1, Math.min(until - Date.now(), 5_000)));
        const answer = await fetch(`${this.url}/${path}`, { method, headers: this.headers, body: sent, signal, redirect: "error" });
        const text = await answer.text();
        if (answer.status < 500 && answer.status !== 429) return { ok: answer.ok, text, body: parsed(text) };
      } catch {
        // There is no answer, or half of one.
      }
      if (Date.now() + TIMES.pause >= until) return null;
      await sleep(TIMES.pause);
    }
  }
}

/** The agents that take turns, and what is done in each hook. */
export class Table {
  constructor({ url, secret, agents, log, times }) {
    this.front = new Front(url, secret);
    this.agents = agents;
    this.log = log;
    this.times = { ...TIMES, ...times };
  }

  /** The agent of an account. Accounts that the settings do not name take no turns. */
  agent(account) {
    return Object.hasOwn(this.agents, account ?? "") ? this.agents[account] : undefined;
  }

  /** Whether a session takes turns. One whose account is not told does. */
  isHere(session, account) {
    return channelOf(session) !== undefined && (account === undefined || this.agent(account) !== undefined);
  }

  /** Before a message begins a run. `{ handled: true }` ends it without a run and without words. */
  async dispatch(event, ctx) {
    const agent = this.agent(ctx.accountId);
    if (ctx.channelId !== "discord" || event.isGroup === false || agent === undefined) return undefined;
    const session = event.sessionKey ?? ctx.sessionKey;
    const channel = /(\d+)$/.exec(ctx.conversationId ?? "")?.[1] ?? channelOf(session);
    const run = event.messageId ?? ctx.messageId;
    if (!session || !channel || !run) return this.silent(agent, "OpenClaw does not say which message it is");
    shared.places.add(`${agent}/${channel}`);
    const answer = await this.front.ask("begin", { agent, channel, run }, this.times.begin);
    if (!answer?.body.allowed) return this.silent(agent, answer ? (answer.body.reason ?? answer.text) : "Dirigent does not answer");
    const { briefing, missed } = answer.body;
    shared.runs.set(session, { agent, channel, run, briefing, missed });
    return undefined;
  }

  silent(agent, why) {
    this.log.info(`${agent} does not run: ${why}`);
    return { handled: true };
  }

  /** Before the model is asked: the second lock, also for runs that no message began. */
  async run(ctx) {
    if (!this.isHere(ctx.sessionKey, ctx.accountId)) return { outcome: "pass" };
    const open = shared.runs.get(ctx.sessionKey);
    if (open && !open.ended) {
      const { agent, channel, run } = open;
      const answer = await this.front.ask("begin", { agent, channel, run }, this.times.begin);
      if (answer?.body.allowed) return { outcome: "pass" };
    }
    return { outcome: "block", reason: "it is not its turn", message: "(It was not your turn.)" };
  }

  /** Tells the model who it is, who else is there, and what it missed. */
  prompt(ctx) {
    const run = shared.runs.get(ctx.sessionKey);
    if (!run || run.ended) return undefined;
    const briefing = run.briefing?.replaceAll("NO_REPLY", PASS) ?? `If you have nothing to add, answer only ${PASS}.`;
    const lines = run.missed?.map((message) => message.line) ?? [];
    return { appendSystemContext: briefing, ...(lines.length > 0 && { prependContext: `Said since your last turn:\n${lines.join("\n")}` }) };
  }

  /** Before words are posted: Dirigent hears the end of the run first, and they are posted if it accepts the end. */
  async post({ payload, kind, sessionKey }, ctx) {
    const session = sessionKey ?? ctx.sessionKey;
    if (ctx.channelId !== "discord" || !this.isHere(session, ctx.accountId)) return undefined;
    const run = shared.runs.get(session);
    const text = (payload.text ?? "").trim();
    if (!run || (ctx.messageId && ctx.messageId !== run.run)) return this.held(run, text, "it is not its turn");
    if (run.isSilent || BESIDE.some((mark) => payload[mark])) return { cancel: true };
    if (kind !== "final") return this.held(run, text, "it is no whole answer");
    if (payload.isError || NOTICE.test(text)) {
      await this.end(run, "failed");
      return this.held(run, text, "OpenClaw says it, not the agent");
    }
    if (isPass(text) && !payload.mediaUrl && !payload.mediaUrls?.length) {
      await this.end(run, "pass");
      return { cancel: true };
    }
    return (await this.end(run, "spoke", text || "(a file)")) ? undefined : this.held(run, text, "the turn was over");
  }

  held(run, text, why) {
    this.log.warn(`${run?.agent ?? "an agent"}: ${text.length} characters are not posted: ${why}`);
    return { cancel: true };
  }

  /** Before any message to Discord, for example one of the `message` tool: it goes out only in a turn. */
  async send({ to }, ctx) {
    const [agent, channel] = [this.agent(ctx.accountId), /(\d+)$/.exec(to ?? "")?.[1]];
    if (ctx.channelId !== "discord" || !shared.places.has(`${agent}/${channel}`)) return undefined;
    const run = [...shared.runs.values()].findLast((it) => it.agent === agent && it.channel === channel);
    return run && (!run.ended || (await run.ended)) ? undefined : this.held(run, "", "it is not its turn");
  }

  /** Tells the end of a run, once. Returns whether words may be posted. */
  end(open, outcome, text) {
    const { agent, channel, run } = open;
    if (!open.ended) open.isSilent = outcome !== "spoke"; // OpenClaw misses the words then, and posts a notice
    open.ended ??= this.front
      .ask("end", { agent, channel, run, outcome, text }, this.times.end)
      .then((answer) => outcome === "spoke" && answer?.body.accepted === true);
    return open.ended;
  }

  /** After the model: a run that says nothing passes. One whose words never come has failed. */
  async over(event, ctx) {
    const run = shared.runs.get(ctx.sessionKey);
    if (!run || run.ended) return;
    if (event.success && isPass(lastWords(event.messages))) await this.end(run, "pass");
    else setTimeout(() => void this.end(run, "failed"), this.times.wordless).unref();
  }

  /** Says that the agents of these accounts are connected: before, a trigger would not reach them. */
  async beat(connected) {
    const agents = connected.map((account) => this.agent(account)).filter((agent) => agent !== undefined);
    if (agents.length > 0) await this.front.ask("heartbeat", { agents }, this.times.beat);
  }

  /** Dirigent's tools for the agent of a session. */
  tools(ctx) {
    const [agent, channel] = [this.agent(ctx.agentAccountId), channelOf(ctx.sessionKey)];
    if (agent === undefined || channel === undefined) return null;
    const use = async (name, given) => {
      const answer = await this.front.ask(`tools/${name}`, { agent, channel, arguments: given ?? {} }, this.times.end);
      return { content: [{ type: "text", text: answer?.text ?? "Dirigent does not answer." }], details: answer?.body ?? {} };
    };
    return shared.tools.map((tool) => ({ ...tool, label: tool.name, execute: (_call, given) => use(tool.name, given) }));
  }
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** The channel of a session, if it is one in a server at Discord. */
function channelOf(session) {
  return /:discord:(?:channel|group):(?:\d+:thread:)?(\d+)/.exec(session ?? "")?.[1];
}

function isPass(text) {
  return text !== undefined && (text.trim() === "" || text.trim().toLowerCase() === PASS || SILENCE.test(text));
}

/** The newest words of the model. */
function lastWords(messages) {
  const content = messages?.findLast?.((it) => it?.role === "assistant")?.content;
  if (typeof content === "string") return content;
  return content?.filter?.((part) => part?.type === "text").map((part) => part.text).join("");
}

/** Sends heartbeats until another of this process begins. */
async function beat(api, table, number) {
  let said;
  for (; shared.beating === number; await sleep(TIMES.beat, undefined, { ref: false })) {
    try {
      if (shared.tools.length === 0) {
        const told = await table.front.ask("tools", undefined, TIMES.beat);
        if (told?.ok) shared.tools = told.body;
        else table.log.warn(told ? `the front refuses this OpenClaw: ${told.text}` : `no front answers at ${table.front.url}`);
      }
      const { callGatewayFromCli: call } = await import("openclaw/plugin-sdk/gateway-runtime");
      const status = await call("channels.status", { timeout: "4000" }, {}, { sharedStateMode: "read-only" });
      const connected = (status.channelAccounts?.discord ?? []).filter((it) => it.connected).map((it) => it.accountId);
      if (said !== (said = connected.join(", "))) table.log.info(`connected: ${said || "no account"}`);
      await table.beat(connected);
    } catch (error) {
      table.log.warn(`no heartbeat: ${error?.message ?? error}`);
    }
  }
}

function register(api) {
  const log = {};
  for (const level of ["info", "warn", "error"]) log[level] = (text) => api.logger[level](`dirigent: ${text}`);
  const { url = "http://127.0.0.1:8131", secret = process.env.DIRIGENT_SECRET, agents = {} } = api.pluginConfig ?? {};
  const table = new Table({ url, secret, agents, log });
  /** Answers `closed` in place of throwing. */
  const on = (name, closed, hook) =>
    api.on(
      name,
      async (event, ctx) => {
        try {
          return await hook(event ?? {}, ctx ?? {});
        } catch (error) {
          log.error(`${name} failed, so the agent is silent: ${error?.stack ?? error}`);
          return closed;
        }
      },
      { timeoutMs: TIMES.hook },
    );
  on("before_dispatch", { handled: true }, (event, ctx) => table.dispatch(event, ctx));
  on("before_agent_run", { outcome: "block", reason: "openclaw-dirigent failed" }, (_event, ctx) => table.run(ctx));
  on("before_prompt_build", undefined, (_event, ctx) => table.prompt(ctx));
  on("reply_payload_sending", { cancel: true }, (event, ctx) => table.post(event, ctx));
  on("message_sending", { cancel: true }, (event, ctx) => table.send(event, ctx));
  on("agent_end", undefined, (event, ctx) => table.over(event, ctx));
  api.registerTool((ctx) => table.tools(ctx), { names: contracts.tools });
  const start = () => {
    for (const wrong of wrongSettings(api.config, agents)) log.warn(wrong);
    if (!secret) log.error("there is no secret, so no agent runs: set DIRIGENT_SECRET to NAME.SECRET");
    void beat(api, table, (shared.beating += 1));
  };
  api.registerService({ id: "dirigent", start, stop: () => void (shared.beating += 1) });
}

export default { id: "dirigent", name: "Dirigent", description: "Agents ask Dirigent for their turns in Discord channels", register };
