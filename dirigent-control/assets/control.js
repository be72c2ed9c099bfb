// What the pages do by themselves: they take over changed parts from a stream, count down, show times as the visitor's
// own, and send forms without leaving. Without it every form works as a form.
(() => {
  "use strict";
  const said = document.getElementById("said");
  let hiding = 0;
  const say = (text) => {
    if (!said) return;
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
  const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "medium" });
  const today = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
  const times = (root) => {
    for (const time of root.querySelectorAll("time[data-at]")) {
      const at = new Date(Number(time.dataset.at));
      time.dateTime = at.toISOString();
      time.textContent = (at.toDateString() === new Date().toDateString() ? today : clock).format(at);
    }
    for (const time of root.querySelectorAll("time[data-until]")) time.textContent = left(Number(time.dataset.until));
  };
  const toEnd = (sheet) => (sheet.scrollLeft = sheet.scrollWidth);

  // A part that is being used is replaced when that is over.
  const waiting = new Map();
  let pressed = null;
  const isUsed = (element) =>
    element.contains(pressed) ||
    (element.contains(document.activeElement) && /^(SELECT|INPUT|TEXTAREA)$/.test(document.activeElement.tagName));
  const replace = (id, html) => {
    const element = document.getElementById(id);
    if (!element) return;
    if (isUsed(element)) {
      waiting.set(id, html);
      return;
    }
    waiting.delete(id);
    const focused = element.contains(document.activeElement) ? document.activeElement.id : "";
    const wasAtEnd = element.scrollLeft + element.clientWidth >= element.scrollWidth - 24;
    const at = [element.scrollLeft, element.scrollTop];
    const open = [...element.querySelectorAll("details[open]")].map((details) => details.id);
    element.innerHTML = html;
    for (const details of element.querySelectorAll("details")) details.open = open.includes(details.id);
    times(element);
    if (element.dataset.end !== undefined && wasAtEnd) toEnd(element);
    else [element.scrollLeft, element.scrollTop] = at;
    if (focused) document.getElementById(focused)?.focus();
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

  const live = document.body.dataset.live;
  const pulse = document.getElementById("pulse");
  // A browser has six connections for all pages of a server (HTTP/1.1), and a stream keeps one. If streams had all six, an
  // order would wait unseen. So only pages that are seen have a stream, at most four of them where the browser can count
  // (Web Locks, over HTTPS or on this machine); each other one looks anew now and then.
  const STREAMS = 4;
  const LOOK_AGAIN = 5000;
  let stream = null;
  let stopStream = () => {};
  const show = (text, on) => {
    if (pulse.textContent !== text) pulse.textContent = text;
    pulse.classList.toggle("on", on);
  };
  const takeOver = (message) => {
    for (const { id, html } of JSON.parse(message.data)) replace(id, html);
  };
  const openStream = () => {
    stream = new EventSource(live);
    stream.onopen = () => show("live", true);
    stream.onmessage = takeOver;
    stream.onerror = (event) => {
      const hasEnded = event.target.readyState === EventSource.CLOSED;
      show(hasEnded ? "ended; reload the page" : "connecting", false);
      if (hasEnded) stopStream();
    };
  };
  const closeStream = () => {
    stream?.close();
    stream = null;
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
    const once = new EventSource(live);
    const end = () => once.close();
    once.onmessage = (message) => {
      end();
      takeOver(message);
    };
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
  if (live) {
    const follow = () => {
      if (document.hidden) {
        stopStream();
        show("paused", false);
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
    const wasLive = stream !== null;
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
    if (button?.dataset.ask && !confirm(button.dataset.ask)) {
      event.preventDefault();
      return;
    }
    if (form.dataset.order === undefined) return;
    event.preventDefault();
    const body = new URLSearchParams(new FormData(form, button));
    try {
      const answer = await send(form.action, body);
      if (!answer.ok) {
        const problem = await answer.json().catch(() => ({}));
        say(problem.detail ? problem.detail[0].toUpperCase() + problem.detail.slice(1) + "." : `It was refused (${answer.status}).`);
        form.reset();
      } else if (!live) location.reload();
    } catch (error) {
      say(
        error.name === "TimeoutError"
          ? `No answer within ${ORDER_WAIT / 1000} s: the order may have been carried out, or not. Close other tabs of this page, and look again.`
          : "The server does not answer; nothing is known to have changed.",
      );
    }
  });
  document.addEventListener("change", (event) => {
    if (event.target.dataset.send !== undefined) {
      event.target.blur();
      if (!event.target.form.querySelector("[data-ask]")) event.target.form.requestSubmit();
    }
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
