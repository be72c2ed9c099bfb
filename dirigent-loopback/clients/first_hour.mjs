// The first hour of a bot on discord.js, unmodified, inside the loopback Discord.
//
//     clients/run node clients/first_hour.mjs
//
// Each step asserts what comes back and the event that follows. Nothing sleeps: an event that does not come
// within PATIENCE fails the step. What the person types goes into the file PERSON, which the terminal of
// loopback-discord reads.

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import {
  AttachmentBuilder, ChannelType, Client, EmbedBuilder, Events, GatewayIntentBits as Intents, MessageFlags,
  MessageType, Partials, SlashCommandBuilder, WebhookClient, version,
} from "discord.js";

const { DISCORD_TOKEN, DISCORD_PROXY_URL, DISCORD_GUILD_ID, DISCORD_CHANNEL_ID, DISCORD_USER_ID, PERSON } =
  process.env;

// The one option that a bot on discord.js needs for the loopback Discord.
const rest = { api: `${DISCORD_PROXY_URL}/api` };
const PATIENCE = 20_000;

const client = new Client({
  rest,
  intents: [
    Intents.Guilds, Intents.GuildMessages, Intents.MessageContent, Intents.GuildMessageReactions,
    Intents.GuildWebhooks,
  ],
  partials: [Partials.Message, Partials.Channel, Partials.Reaction],
});

const personTypes = (line) => appendFileSync(PERSON, `${line}\n`);
const done = (step) => console.log(`discord.js ${version}: ${step}`);

/** Begins to listen at once; await it after the step that causes the event. */
function expected(event, check = () => true) {
  const heard = new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      client.off(event, listen);
      reject(new Error(`${event} did not come`));
    }, PATIENCE);
    function listen(...values) {
      if (!check(...values)) return;
      clearTimeout(late);
      client.off(event, listen);
      resolve(values);
    }
    client.on(event, listen);
  });
  heard.catch(() => {}); // it is awaited later, or the step has failed before
  return heard;
}

async function talks(channel) {
  let heard = expected(Events.MessageCreate, (it) => it.author.id === client.user.id);
  const greeting = await channel.send("Good morning");
  assert.equal((await heard)[0].id, greeting.id);
  heard = expected(Events.MessageCreate, (it) => it.author.id === DISCORD_USER_ID);
  personTypes("Good morning, bot");
  const [said] = await heard;
  assert.equal(said.content, "Good morning, bot");
  heard = expected(Events.MessageCreate, (it) => it.type === MessageType.Reply);
  const reply = await said.reply("How are you?");
  assert.equal((await heard)[0].reference.messageId, said.id);
  assert.equal((await reply.fetchReference()).id, said.id);
  const changed = expected(Events.MessageUpdate, (_, it) => it.id === greeting.id);
  await greeting.edit("Good evening");
  assert.equal((await changed)[1].content, "Good evening");
  const read = await channel.messages.fetch({ limit: 3 });
  assert.deepEqual([...read.keys()], [reply.id, said.id, greeting.id]);
  done("greets, reads, replies, edits and reads the history");
}

async function embeds(channel) {
  const embed = new EmbedBuilder({ title: "Report", description: "All is well.", color: 0x336699 })
    .addFields({ name: "one", value: "1", inline: true }).setFooter({ text: "end" }).setTimestamp();
  const heard = expected(Events.MessageCreate, (it) => it.embeds.length > 0);
  const sent = await channel.send({ embeds: [embed] });
  assert.ok(sent.embeds[0].equals({ ...embed.toJSON(), type: "rich" }) || sent.embeds[0].title === "Report");
  assert.equal((await heard)[0].embeds[0].fields[0].value, "1");
  const changed = expected(Events.MessageUpdate, (_, it) => it.id === sent.id);
  await sent.edit({ embeds: [{ title: "Later" }] });
  assert.equal((await changed)[1].embeds[0].title, "Later");
  done("sends an embed and changes it");
}

async function reacts(channel) {
  const message = await channel.send("a motion");
  const baton = channel.guild.emojis.cache.first();
  for (const emoji of ["👍", baton]) {
    const added = expected(Events.MessageReactionAdd, (it) => it.message.id === message.id);
    await message.react(emoji);
    const [reaction, user] = await added;
    assert.equal(reaction.emoji.name, emoji.name ?? emoji);
    assert.equal(user.id, client.user.id);
  }
  const read = await message.fetch(true);
  assert.deepEqual(read.reactions.cache.map((it) => [it.count, it.me]), [[1, true], [1, true]]);
  const thumbs = read.reactions.resolve("👍");
  assert.deepEqual([...(await thumbs.users.fetch()).keys()], [client.user.id]);
  const removed = expected(Events.MessageReactionRemove);
  await thumbs.users.remove(client.user);
  assert.equal((await removed)[0].emoji.name, "👍");
  let cleared = expected(Events.MessageReactionRemoveEmoji);
  await read.reactions.resolve(baton.id).remove();
  await cleared;
  await message.react("🎉");
  cleared = expected(Events.MessageReactionRemoveAll);
  await message.reactions.removeAll();
  await cleared;
  assert.equal((await message.fetch(true)).reactions.cache.size, 0);
  done("reacts, lists, and takes reactions away");
}

async function sendsFiles(channel) {
  const content = "Nothing was decided.\n".repeat(1000);
  const file = new AttachmentBuilder(Buffer.from(content), { name: "minutes.txt", description: "what was said" });
  const heard = expected(Events.MessageCreate, (it) => it.attachments.size > 0);
  const sent = await channel.send({ content: "the minutes", files: [file] });
  const attachment = (await heard)[0].attachments.first();
  assert.deepEqual([attachment.name, attachment.size], ["minutes.txt", content.length]);
  assert.equal(attachment.description, "what was said");
  assert.equal(await (await fetch(attachment.url)).text(), content);
  const picture = new AttachmentBuilder(Buffer.from("PNG"), { name: "dot.png" });
  const shown = await channel.send({ embeds: [{ image: { url: "attachment://dot.png" } }], files: [picture] });
  assert.equal(shown.embeds[0].image.url, shown.attachments.first().url);
  const more = new AttachmentBuilder(Buffer.from("more"), { name: "more.txt" });
  const changed = await sent.edit({ attachments: [attachment], files: [more] });
  assert.deepEqual(changed.attachments.map((it) => it.name).sort(), ["minutes.txt", "more.txt"]);
  const fewer = await sent.edit({ attachments: [changed.attachments.find((it) => it.name === "more.txt")] });
  assert.deepEqual(fewer.attachments.map((it) => it.name), ["more.txt"]);
  done("sends files, reads them back, adds and removes some");
}

async function pins(channel) {
  const message = await channel.send("a decision");
  const told = expected(Events.MessageCreate, (it) => it.type === MessageType.ChannelPinnedMessage);
  let changed = expected(Events.ChannelPinsUpdate);
  await message.pin();
  assert.equal((await told)[0].reference.messageId, message.id);
  assert.ok((await changed)[1], "the moment of the newest pin");
  assert.deepEqual((await channel.messages.fetchPins()).items.map((it) => it.message.id), [message.id]);
  changed = expected(Events.ChannelPinsUpdate);
  await message.unpin();
  await changed;
  assert.equal((await channel.messages.fetchPins()).items.length, 0);
  done("pins and unpins");
}

async function deletesMany(channel) {
  const sent = [];
  for (const text of ["one", "two", "three"]) sent.push(await channel.send(text));
  const gone = expected(Events.MessageBulkDelete);
  await channel.bulkDelete(sent);
  assert.deepEqual([...(await gone)[0].keys()].sort(), sent.map((it) => it.id).sort());
  const last = await channel.send("one more");
  const deleted = expected(Events.MessageDelete, (it) => it.id === last.id);
  await last.delete();
  await deleted;
  done("deletes many messages at once, and one");
}

async function usesAWebhook(channel) {
  const updated = expected(Events.WebhooksUpdate);
  const webhook = await channel.createWebhook({ name: "herald" });
  assert.equal((await updated)[0].id, channel.id);
  assert.deepEqual([...(await channel.fetchWebhooks()).keys()], [webhook.id]);
  assert.deepEqual([...(await channel.guild.fetchWebhooks()).keys()], [webhook.id]);
  const heard = expected(Events.MessageCreate, (it) => it.webhookId === webhook.id);
  const sent = await webhook.send({
    content: "Hear, hear", username: "crier", embeds: [{ title: "news" }],
    files: [new AttachmentBuilder(Buffer.from("all of it"), { name: "news.txt" })],
  });
  const [message] = await heard;
  assert.deepEqual([message.id, message.author.username], [sent.id, "crier"]);
  assert.equal(await (await fetch(message.attachments.first().url)).text(), "all of it");
  const changed = expected(Events.MessageUpdate, (_, it) => it.id === sent.id);
  await webhook.editMessage(sent, { content: "Hear, hear!" });
  assert.equal((await changed)[1].content, "Hear, hear!");
  const alone = new WebhookClient({ id: webhook.id, token: webhook.token }, { rest });
  assert.equal((await alone.fetchMessage(sent.id)).content, "Hear, hear!");
  const gone = expected(Events.MessageDelete, (it) => it.id === sent.id);
  await alone.deleteMessage(sent.id);
  await gone;
  assert.equal((await webhook.edit({ name: "envoy" })).name, "envoy");
  await webhook.delete();
  assert.equal((await channel.fetchWebhooks()).size, 0);
  done("creates, uses, changes and deletes a webhook");
}

async function startsThreads(channel) {
  for (const type of [ChannelType.PublicThread, ChannelType.PrivateThread]) {
    const created = expected(Events.ThreadCreate);
    const thread = await channel.threads.create({ name: `thread ${type}`, type, autoArchiveDuration: 60 });
    assert.equal((await created)[0].id, thread.id);
    assert.deepEqual([thread.type, thread.autoArchiveDuration], [type, 60]);
    const heard = expected(Events.MessageCreate, (it) => it.channelId === thread.id);
    await thread.send("inside");
    assert.equal((await heard)[0].content, "inside");
  }
  const topic = await channel.send("a topic");
  const created = expected(Events.ThreadCreate);
  const thread = await topic.startThread({ name: "topic" });
  assert.equal((await created)[0].id, thread.id);
  assert.equal(thread.id, topic.id);
  assert.equal((await thread.fetchStarterMessage()).id, topic.id);
  const webhook = await channel.createWebhook({ name: "herald" });
  const heard = expected(Events.MessageCreate, (it) => it.webhookId === webhook.id);
  await webhook.send({ content: "in the thread", threadId: thread.id });
  assert.equal((await heard)[0].channelId, thread.id);
  const changed = expected(Events.ThreadUpdate);
  await thread.setLocked(true);
  assert.ok((await changed)[1].locked);
  // The client forgets a thread that it has deleted itself, and then tells its end only sometimes.
  const gone = expected(Events.Raw, (it) => it.t === "THREAD_DELETE");
  await thread.delete();
  await gone;
  done("starts threads of each type and from a message");
}

async function answersCommands(channel) {
  const text = (it) => it.setName("text").setDescription("What to say").setRequired(true);
  const command = (name) => new SlashCommandBuilder().setName(name).setDescription(`The command ${name}`);
  const commands = [command("echo").addStringOption(text), command("later"), command("whisper")];
  const set = await channel.guild.commands.set(commands);
  assert.deepEqual(set.map((it) => it.name).sort(), ["echo", "later", "whisper"]);

  let used = expected(Events.InteractionCreate);
  let heard = expected(Events.MessageCreate, (it) => it.interactionMetadata !== null);
  personTypes("/echo text=hello");
  let [interaction] = await used;
  assert.ok(interaction.isChatInputCommand() && interaction.user.id === DISCORD_USER_ID);
  await interaction.reply({ content: interaction.options.getString("text"), embeds: [{ title: "echo" }] });
  const [answer] = await heard;
  assert.deepEqual([answer.content, answer.embeds[0].title], ["hello", "echo"]);

  used = expected(Events.InteractionCreate);
  personTypes("/later");
  [interaction] = await used;
  await interaction.deferReply();
  const changed = expected(Events.MessageUpdate, (_, it) => it.content === "now");
  await interaction.editReply("now");
  await changed;
  heard = expected(Events.MessageCreate, (it) => it.content === "and more");
  const file = new AttachmentBuilder(Buffer.from("1"), { name: "1.txt" });
  await interaction.followUp({ content: "and more", files: [file] });
  assert.equal((await heard)[0].attachments.first().name, "1.txt");

  used = expected(Events.InteractionCreate);
  personTypes("/whisper");
  [interaction] = await used;
  await interaction.reply({ content: "psst", flags: MessageFlags.Ephemeral });
  const whispered = await interaction.fetchReply();
  assert.ok(whispered.content === "psst" && whispered.flags.has(MessageFlags.Ephemeral));
  done("answers slash commands: at once, later, and to one alone");
}

try {
  const ready = expected(Events.ClientReady);
  await client.login(DISCORD_TOKEN);
  await ready;
  const guild = await client.guilds.fetch(DISCORD_GUILD_ID);
  const channel = await guild.channels.fetch(DISCORD_CHANNEL_ID);
  done("logs in and sees its guild");
  for (const step of [
    talks, embeds, reacts, sendsFiles, pins, deletesMany, usesAWebhook, startsThreads, answersCommands,
  ]) {
    await step(channel);
  }
} catch (error) {
  console.error("the first hour ended early:", error);
  process.exitCode = 1;
} finally {
  await client.destroy();
}
process.exit();
