// What the pages do by themselves: they take over changed parts from a stream, count down, show times as the visitor's
// own, and send forms without leaving. Without it every form works as a form.
(() => {
  "use strict";
  const said = document.getElementById("said");
  let hiding = 0;
  document.documentElement.classList.add("js");
  const say = (text, isGood = false) => {
    if (!said) return;
    said.classList.toggle("good", isGood);
    said.textContent = text;
    said.hidden = false;
    clearTimeout(hiding);
    hiding = setTimeout(() => (said.hidden = true), 8000);
  };

  const left = (until) => {
    const seconds = Math.max(0, Math.ceil((until - Date.now()) / 1000));
    if (seconds < 120) return `${seconds} s`;
    return seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
  };
  const passed = (since) => {
    const seconds = Math.max(0, Math.floor((Date.now() - since) / 1000));
    if (seconds < 120) return `${seconds} s`;
    if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
    return seconds < 172800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} days`;
  };
  const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "medium" });
  const today = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
  // The times of a score, with their days if it has several.
  const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
  const dayAndTime = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  const scoreTimes = (root) => {
    for (const score of root.querySelectorAll(".score")) {
      const all = [...score.querySelectorAll(".time")];
      const areOfOneDay = all.every((time) => !time.classList.contains("days"));
      for (const time of all) time.textContent = (areOfOneDay ? today : dayAndTime).format(Number(time.dataset.at));
      const zone = score.querySelector(".zone");
      if (zone) zone.textContent = areOfOneDay ? day.format(Number(all[0].dataset.at)) : "";
    }
  };
  const times = (root) => {
    for (const time of root.querySelectorAll("time[data-at]")) {
      const at = new Date(Number(time.dataset.at));
      time.dateTime = at.toISOString();
      time.textContent = (at.toDateString() === new Date().toDateString() ? today : clock).format(at);
    }
    scoreTimes(root);
    for (const time of root.querySelectorAll("time[data-since]")) time.textContent = `for ${passed(Number(time.dataset.since))}`;
    for (const time of root.querySelectorAll("time[data-until]")) time.textContent = left(Number(time.dataset.until));
  };
  const zone = document.getElementById("zone");
  if (zone) zone.textContent = clock.resolvedOptions().timeZone;
  const toEnd = (sheet) => (sheet.scrollLeft = sheet.scrollWidth);

  // A part that is being used is replaced when that is over.
  const waiting = new Map();
  const shown = new Map();
  let pressed = null;
  const isUsed = (element) =>
    element.contains(pressed) ||
    (element.contains(document.activeElement) && document.activeElement.matches("select, textarea, input:not([type=checkbox])")) ||
    element.querySelector("form.changed") !== null;
  const replace = (id, html) => {
    const element = document.getElementById(id);
    if (!element || shown.get(id) === html) return;
    if (isUsed(element)) {
      waiting.set(id, html);
      return;
    }
    waiting.delete(id);
    shown.set(id, html);
    const hadFocus = element.contains(document.activeElement);
    const focused = hadFocus ? document.activeElement.id : "";
    const wasAtEnd = element.scrollLeft + element.clientWidth >= element.scrollWidth - 24;
    const at = [element.scrollLeft, element.scrollTop];
    const open = [...element.querySelectorAll("details[open]")].map((details) => details.id);
    const checked = [...element.querySelectorAll("input[type=checkbox]:checked")].map((box) => box.id);
    // What somebody typed stays: a stop that was given a reason must not go without it.
    const typed = [...element.querySelectorAll("input[id]:not([type=checkbox]), textarea[id]")].filter((field) => field.value !== field.defaultValue);
    element.innerHTML = html;
    for (const box of checked) document.getElementById(box)?.setAttribute("checked", "");
    for (const { id, value } of typed) {
      const field = document.getElementById(id);
      if (field) field.value = value;
    }
    for (const details of element.querySelectorAll("details")) details.open = open.includes(details.id);
    times(element);
    if (element.dataset.end !== undefined && wasAtEnd) toEnd(element);
    else [element.scrollLeft, element.scrollTop] = at;
    // The focus stays on the thing that had it, or, if that is gone, on the part: never on what took its place.
    const same = document.getElementById(focused);
    if (hadFocus) (same && !same.disabled ? same : element).focus({ preventScroll: true });
    title();
  };
  // How many channels need a person stands in the tab's title.
  const plain = document.title.replace(/^\(\d+\) /, "");
  let needed = null;
  let needing = new Set();
  const title = () => {
    const told = document.querySelector("[data-needs]")?.dataset;
    const needs = Number(told?.needs ?? 0);
    const now = new Set(told?.needing?.split(" ").filter(Boolean));
    document.title = needs > 0 ? `(${needs}) ${plain}` : plain;
    // One may come while another is served, so that the number stays as it is.
    const areKnown = now.size === needs && needing.size === needed;
    const isNew = areKnown ? [...now].some((id) => !needing.has(id)) : needs > needed;
    if (needed !== null && isNew) notify(needs);
    [needed, needing] = [needs, now];
  };
  // The rows of a table, as a reload would show them. What stays in its place is not touched.
  const put = (parent, node, before) => {
    if (node.parentNode === parent && node.nextSibling === before) return;
    if (parent.moveBefore && node.isConnected) parent.moveBefore(node, before);
    else parent.insertBefore(node, before);
  };
  const arrange = (id, groups) => {
    const table = document.getElementById(id);
    if (!table) return;
    const focused = document.activeElement;
    const hadFocus = table.contains(focused);
    const rows = new Map();
    for (const row of table.querySelectorAll("tbody tr[id]")) rows.set(row.id, row);
    const bodies = new Map();
    for (const body of table.tBodies) bodies.set(body.querySelector(".guild bdi").textContent, body);
    const wanted = new Set(groups.flatMap((group) => group.rows));
    for (const [row, element] of rows)
      if (!wanted.has(row)) {
        element.remove();
        shown.delete(row);
        waiting.delete(row);
      }
    const kept = new Set();
    let after = table.tHead;
    for (const { heading, rows: ids } of groups) {
      const name = document.createElement("bdi");
      name.innerHTML = heading;
      let body = bodies.get(name.textContent);
      if (!body || kept.has(body)) {
        body = document.createElement("tbody");
        const head = body.insertRow();
        head.className = "guild";
        const cell = document.createElement("th");
        cell.scope = "rowgroup";
        cell.colSpan = table.tHead.rows[0].cells.length;
        cell.append(name);
        head.append(cell);
      }
      kept.add(body);
      if (body !== after.nextElementSibling) put(table, body, after.nextElementSibling);
      after = body;
      let last = body.rows[0];
      for (const row of ids) {
        const element = rows.get(row) ?? Object.assign(document.createElement("tr"), { id: row });
        if (element !== last.nextElementSibling) put(body, element, last.nextElementSibling);
        last = element;
      }
    }
    for (const body of [...table.tBodies]) if (!kept.has(body)) body.remove();
    table.hidden = groups.length === 0;
    if (hadFocus && document.activeElement !== focused) (focused.isConnected ? focused : table).focus({ preventScroll: true });
  };
  const replaceWaiting = () => setTimeout(() => [...waiting].forEach(([id, html]) => replace(id, html)));
  document.addEventListener("focusout", replaceWaiting);
  // A button that is replaced between the press and the release gets no click.
  document.addEventListener("pointerdown", (event) => (pressed = event.target));
  for (const over of ["pointerup", "pointercancel"])
    document.addEventListener(over, () => {
      pressed = null;
      replaceWaiting();
    });

  let live = document.body.dataset.live;
  const pulse = document.getElementById("pulse");
  // A browser has six connections for all pages of a server (HTTP/1.1), and a stream keeps one. If streams had all six, an
  // order would wait unseen. So only pages that are seen have a stream, at most four of them where the browser can count
  // (Web Locks, over HTTPS or on this machine); each other one looks anew now and then.
  const STREAMS = 4;
  const LOOK_AGAIN = 5000;
  // A page that nobody sees looks so often, so that its title is true; more often if it notifies.
  const LOOK_HIDDEN = 30000;
  const LOOK_NOTIFYING = 15000;
  // Without a word for so long, a stream that says something every 15 s is lost.
  const SILENCE = 40000;
  const PAUSE_MAX = 30000;
  const NOT_LIVE = {
    behind: "not live: the channels cannot be read just now",
    ended: "not live: the bot has been shut down",
    lost: "not live: no connection; tried again by itself",
    full: "not live: too many pages are open; tried again by itself",
    out: "not live: signed out; reload to sign in",
    gone: "not live: this page is no more; reload",
  };
  let stream = null;
  let stopStream = () => {};
  let tries = 0;
  let retry = 0;
  let heardAt = 0;
  const show = (text, on) => {
    if (pulse.textContent !== text) pulse.textContent = text;
    pulse.classList.toggle("on", on);
    pulse.classList.toggle("off", text.startsWith("not live"));
  };
  // The last state that the page has, so that it is sent only what differs.
  let had = "";
  const address = () => (had ? live.replace(/([?&]had=)[0-9a-f]*/, `$1${had}`) : live);
  const takeOver = (message) => {
    heardAt = Date.now();
    had = message.lastEventId || had;
    const parts = JSON.parse(message.data);
    for (const { id, groups } of parts) if (groups) arrange(id, groups);
    for (const { id, html, groups } of parts) if (!groups) replace(id, html ?? "");
    title();
  };
  const stand = (message) => {
    heardAt = Date.now();
    tries = 0;
    show(NOT_LIVE[message.data] ?? "live", message.data === "live");
  };
  const openStream = () => {
    heardAt = Date.now();
    stream = new EventSource(address());
    stream.onmessage = takeOver;
    stream.addEventListener("standing", stand);
    stream.onerror = lost;
  };
  const closeStream = () => {
    clearTimeout(retry);
    retry = 0;
    stream?.close();
    stream = null;
  };
  // A stream that ends is asked for again: at once after its end, then with growing pauses, whatever a proxy answers meanwhile.
  const lost = async () => {
    closeStream();
    const again = (pause) => {
      clearTimeout(retry);
      retry = setTimeout(() => {
        retry = 0;
        openStream();
      }, pause);
    };
    tries += 1;
    if (tries === 1) {
      show("connecting", false);
      again(300);
      return;
    }
    show(NOT_LIVE.lost, false);
    again(Math.min(PAUSE_MAX, 500 * 2 ** tries) * (0.75 + Math.random() / 2));
    const asked = retry;
    const status = await asksWhy();
    // Meanwhile the page may be live again, or hidden.
    if (retry !== asked) return;
    if (status === 200) again(1000);
    else if (status === 503) show(NOT_LIVE.full, false);
    else if (status === 401 || status === 404) {
      stopStream();
      show(status === 401 ? NOT_LIVE.out : NOT_LIVE.gone, false);
    }
  };
  // What the server answers to who asks for the stream: an EventSource does not tell. 0 without an answer of ours.
  const asksWhy = async () => {
    const ends = new AbortController();
    setTimeout(() => ends.abort(), 5000);
    try {
      const answer = await fetch(address(), { cache: "no-store", signal: ends.signal });
      if (answer.status === 503) return (await answer.json()).type.endsWith(":too-many-streams") ? 503 : 0;
      return answer.status;
    } catch {
      return 0;
    } finally {
      ends.abort();
    }
  };
  // Resolves to a function that gives the place back, or to null.
  const hold = (name, options) =>
    new Promise((taken) => {
      const held = (lock) => (lock ? new Promise((free) => taken(free)) : taken(null));
      navigator.locks.request(name, options, held).catch(() => taken(null));
    });
  const place = async (signal) => {
    for (let at = 0; at < STREAMS; at += 1) {
      const free = await hold(`dirigent-stream-${at}`, { ifAvailable: true });
      if (free) return free;
    }
    show(`looks every ${LOOK_AGAIN / 1000} s: other windows are live`, false);
    return hold(`dirigent-stream-${Math.floor(Math.random() * STREAMS)}`, { signal });
  };
  const look = () => {
    const once = new EventSource(address());
    const end = () => once.close();
    once.onmessage = takeOver;
    once.addEventListener("standing", end);
    once.onerror = end;
    setTimeout(end, 2000);
  };
  const startStream = async () => {
    stopStream();
    const waits = new AbortController();
    let free = null;
    const looking = setInterval(() => stream ?? look(), LOOK_AGAIN);
    stopStream = () => {
      waits.abort();
      clearInterval(looking);
      closeStream();
      free?.();
      free = null;
    };
    if (navigator.locks) {
      const taken = await place(waits.signal);
      if (waits.signal.aborted) {
        taken?.();
        return;
      }
      free = taken;
    }
    clearInterval(looking);
    if (!stream) openStream();
  };
  // A notification when one more channel needs a person, if the operator asks for it.
  const NOTIFY = "dirigent-notify";
  const isNotifying = () => "Notification" in window && Notification.permission === "granted" && localStorage.getItem(NOTIFY) === "on";
  const notify = (needs) => {
    if (!isNotifying() || !document.hidden) return;
    const one = new Notification(needs === 1 ? "A channel needs a person" : `${needs} channels need a person`, { body: plain, tag: "dirigent-needs", renotify: true });
    one.onclick = () => {
      focus();
      one.close();
    };
  };
  const asksToNotify = document.getElementById("notify");
  if (asksToNotify && "Notification" in window) {
    const label = () => (asksToNotify.textContent = isNotifying() ? "Do not notify me" : "Notify me when a channel needs a person");
    asksToNotify.hidden = false;
    label();
    asksToNotify.addEventListener("click", async () => {
      if (isNotifying()) localStorage.setItem(NOTIFY, "off");
      else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(NOTIFY, "on");
      else say("This browser shows no notifications of this page: allow them in its settings.");
      label();
    });
  }
  title();
  if (live) {
    let hiddenLook = 0;
    setInterval(() => {
      if (stream && Date.now() - heardAt > SILENCE) lost();
    }, 5000);
    addEventListener("online", () => {
      if (!stream && !document.hidden) startStream();
    });
    const follow = () => {
      clearInterval(hiddenLook);
      if (document.hidden) {
        stopStream();
        show("paused", false);
        hiddenLook = setInterval(look, isNotifying() ? LOOK_NOTIFYING : LOOK_HIDDEN);
      } else startStream();
    };
    document.addEventListener("visibilitychange", follow);
    addEventListener("pagehide", () => stopStream());
    addEventListener("pageshow", (event) => event.persisted && location.reload());
    follow();
  }
  const ORDER_WAIT = 10000;
  // Sends an order. The page's own stream gives its connection to it: that one is free at once, whatever other windows keep.
  const send = async (action, body) => {
    const wasLive = stream !== null || retry !== 0;
    closeStream();
    try {
      const signal = AbortSignal.timeout(ORDER_WAIT);
      return await fetch(action, { method: "POST", body, headers: { accept: "application/json" }, priority: "high", signal });
    } finally {
      if (live && !document.hidden && !stream) {
        if (wasLive) openStream();
        else look();
      }
    }
  };

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    const button = event.submitter;
    if (button?.dataset.ask) {
      if (!confirm(button.dataset.ask)) {
        event.preventDefault();
        return;
      }
      if (!form.elements.sure) form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "sure", value: "yes" }));
    }
    if (form.dataset.order === undefined) return;
    event.preventDefault();
    const body = new URLSearchParams(new FormData(form, button));
    try {
      let answer = await send(form.action, body);
      // What costs money, cuts a turn or cannot be taken back is asked for first; once more if it has changed meanwhile.
      while (answer.status === 428) {
        const { detail } = await answer.json();
        if (!confirm(detail)) {
          settle(form);
          return;
        }
        body.set("sure", "yes");
        body.set("asked", answer.headers.get("dirigent-asked") ?? "");
        answer = await send(form.action, body);
      }
      if (answer.ok) say(`${button?.getAttribute("aria-label") ?? button?.textContent ?? "Order"}: done.`, true);
      // The button that set a mode hides: the focus goes to the row's name, or to the part.
      if (answer.ok && button?.matches(".set")) (form.closest("tr")?.querySelector("a[href]") ?? form.closest("[tabindex]"))?.focus();
      if (!answer.ok) {
        const problem = await answer.json().catch(() => ({}));
        say(problem.detail ? problem.detail[0].toUpperCase() + problem.detail.slice(1) + "." : `It was refused (${answer.status}).`);
        settle(form);
      } else {
        form.classList.remove("changed");
        for (const field of form.querySelectorAll("input[name=reason], textarea")) field.value = "";
        if (!live) location.reload();
        else if (form.dataset.then) readAgain(form.dataset.then);
      }
      replaceWaiting();
    } catch (error) {
      say(
        error.name === "TimeoutError"
          ? `No answer within ${ORDER_WAIT / 1000} s: the order may have been carried out, or not. Close other tabs of this page, and look again.`
          : "The server does not answer; nothing is known to have changed.",
      );
    }
  });
  // A choice of a mode is sent by its button alone: an arrow key only chooses. Who leaves the form leaves the choice.
  const settle = (form) => {
    form.reset();
    form.classList.remove("changed");
    replaceWaiting();
  };
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-order]");
    if (form && event.target.tagName === "SELECT") {
      const isSame = [...event.target.options].every((option) => option.selected === option.defaultSelected);
      form.classList.toggle("changed", !isSame);
    }
  });
  document.addEventListener("focusout", (event) => {
    const form = event.target.closest?.("form.changed");
    if (form && !form.contains(event.relatedTarget) && !form.contains(pressed)) settle(form);
  });

  const readPage = async (from) => {
    try {
      const answer = await fetch(from, { headers: { accept: "text/html" } });
      return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
    } catch {
      return null;
    }
  };
  // What no stream sends is read again when that is asked for.
  const readAgain = async (id) => {
    const anew = (await readPage(location.pathname))?.getElementById(id);
    if (!anew) say("It cannot be read now.");
    else {
      document.getElementById(id).replaceWith(anew);
      times(anew);
    }
  };
  document.querySelector("a[data-again]")?.addEventListener("click", (event) => {
    event.preventDefault();
    readAgain(event.target.dataset.again);
  });
  // A filter counts at once: its rows take the place of those that are there, and the stream is that of the new list.
  const FILTER_PAUSE = 250;
  const filter = document.querySelector("form.filter");
  // What is chosen stays so, also while a filter hides it; only what is seen is given an order.
  const chosen = new Set();
  let filtered = 0;
  let typing = 0;
  const refilter = async () => {
    const mine = (filtered += 1);
    const asked = [...new FormData(filter)].filter(([, value]) => value !== "");
    const to = `${filter.action}?${new URLSearchParams(asked)}`;
    const page = await readPage(to);
    if (mine !== filtered) return;
    if (!page) {
      say("The list cannot be read now.");
      return;
    }
    waiting.clear();
    shown.clear();
    for (const box of document.querySelectorAll("#list input[name=channel]")) chosen[box.checked ? "add" : "delete"](box.id);
    for (const id of ["summary", "none", "list", "pages"]) document.getElementById(id).replaceWith(page.getElementById(id));
    for (const id of chosen) document.getElementById(id)?.setAttribute("checked", "");
    live = page.body.dataset.live;
    had = "";
    history.replaceState(null, "", to);
    times(document);
    title();
    if (stream) {
      closeStream();
      openStream();
    }
  };
  filter?.addEventListener("input", (event) => {
    clearTimeout(typing);
    if (event.target.id !== "dense") typing = setTimeout(refilter, event.target.tagName === "SELECT" ? 0 : FILTER_PAUSE);
  });
  // Denser rows, for who wants them.
  const DENSE = "dirigent-dense";
  const dense = document.getElementById("dense");
  const setDense = (on) => {
    document.documentElement.classList.toggle("dense", on);
    if (dense) dense.checked = on;
  };
  setDense(localStorage.getItem(DENSE) === "on");
  if (dense) document.getElementById("dense-label").hidden = false;
  dense?.addEventListener("change", () => {
    localStorage.setItem(DENSE, dense.checked ? "on" : "off");
    setDense(dense.checked);
  });
  const step = (by) => {
    const links = [...document.querySelectorAll("#list .who a")];
    const at = links.indexOf(document.activeElement);
    links[at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by]?.focus();
  };
  // Keys, for who wants them: they can be turned off in the list that ? shows.
  const KEYS = "dirigent-keys";
  const keys = document.getElementById("keys");
  const turns = document.getElementById("keys-off");
  const areOn = () => localStorage.getItem(KEYS) !== "off";
  const label = () => (turns.textContent = areOn() ? "Turn the keys off" : "Turn the keys on");
  if (keys) label();
  turns?.addEventListener("click", () => {
    localStorage.setItem(KEYS, areOn() ? "off" : "on");
    label();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input, select, textarea")) return;
    if (!keys || keys.open || (!areOn() && event.key !== "?")) return;
    const find = document.querySelector("input[name=find]");
    if (event.key === "?") keys.showModal();
    else if (event.key === "/" && find) find.focus();
    else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
    else if (event.key === "d" && dense) dense.click();
    else if ("cao".includes(event.key)) document.querySelector(`nav [data-key=${event.key}]`)?.click();
    else return;
    event.preventDefault();
  });

  const replayed = document.getElementById("replay");
  const showReplay = async (request) => {
    try {
      const answer = await request;
      const replay = await answer.json();
      if (!answer.ok) throw new Error(replay.detail);
      window.showReplay(replayed, replay);
    } catch (error) {
      replayed.textContent = `It cannot be shown: ${error.message}.`;
    }
  };
  addEventListener("DOMContentLoaded", () => {
    if (replayed?.dataset.replay) showReplay(fetch(replayed.dataset.replay));
    const file = document.querySelector("[data-replay-file]");
    if (file) {
      const read = async () => {
        const body = file.files[0];
        if (body) await showReplay(fetch(file.dataset.replayFile, { method: "POST", body, headers: { "content-type": "text/plain" } }));
      };
      file.onchange = read;
    }
  });

  times(document);
  document.querySelectorAll("[data-end]").forEach(toEnd);
  setInterval(() => times(document), 1000);
})();
