// Shows a recording: a slider over its steps; the state after each, what happened in it, and where it is in the score.
// The data holds every answer of the turn machine already; nothing is decided here, and no text is taken for HTML but
// the score, which is read as an SVG image.
(() => {
  "use strict";
  const make = (name, properties = {}, ...inside) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...inside);
    return element;
  };

  const time = (millis) => {
    const seconds = Math.max(0, millis) / 1000;
    const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60];
    const [h, m, s] = parts.map((part) => String(part).padStart(2, "0"));
    return `${h === "00" ? "" : h + ":"}${m}:${s}.${String(Math.floor(millis % 1000)).padStart(3, "0")}`;
  };

  const does = {
    granted: "has the floor and has not started", running: "is thinking", delivering: "has its reply, which is being posted",
    confirming: "has spoken; its message is on the way", continuing: "has spoken and goes on",
    waiting: "waits until a person was answered",
  };
  const rests = {
    dormant: "it is quiet", refreshing: "the member list is being read", unknown: "the member list was never read",
    disabled: "turns are not kept", dead: "agents are not woken", archived: "the channel is archived",
  };
  const sentence = (state) => {
    const pause = state.pause ? `, ${state.pause}` : "";
    if (state.speaker) return `${state.speaker} ${does[state.phase] ?? `has the floor: ${state.phase}`}${pause}.`;
    return `No agent speaks: ${state.silence ?? `${rests[state.phase] ?? state.phase}${pause}`}.`;
  };

  const agentRow = (agent, speaker) =>
    make("tr", { className: agent.name === speaker ? "speaks" : "" },
      make("td", { textContent: agent.name }),
      make("td", { textContent: agent.seat }),
      make("td", { textContent: `${agent.may_speak ? "may speak" : "may not speak"}: ${agent.why}` }));

  const eventLine = (events) =>
    make("li", { className: events.kind }, ...(events.agent ? [make("b", { textContent: events.agent }), " "] : []), events.words);

  const headings = (...names) =>
    make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col", textContent: name }))));

  window.showReplay = (place, replay) => {
    place.replaceChildren();
    if (replay.frames.length === 0) {
      place.append(make("p", { textContent: "Nothing happened in this recording." }));
      return;
    }
    const last = replay.frames.length - 1;
    const slider = make("input", { type: "range", min: 0, max: last, value: 0, step: 1 });
    slider.setAttribute("aria-label", "Step of the recording");
    const button = (text, label, click) => {
      const made = make("button", { type: "button", textContent: text, onclick: click });
      made.setAttribute("aria-label", label);
      return made;
    };
    const when = make("span", { className: "when" });
    const state = make("p", { className: "stands" });
    const events = make("ul", { className: "events" });
    const agents = make("tbody");
    const sheet = make("div", { className: "sheet", tabIndex: 0 });
    sheet.setAttribute("role", "group");
    sheet.setAttribute("aria-label", "Score of the recording");
    const image = new DOMParser().parseFromString(replay.score, "image/svg+xml").documentElement;
    const score = document.importNode(image, true);
    const names = make("div", { className: "names" }, ...replay.names.map((name) => make("span", { dir: "auto", textContent: name })));
    names.setAttribute("aria-hidden", "true");
    sheet.append(make("div", { className: "staves" }, names, score));
    const playhead = score.querySelector(".playhead");
    playhead.setAttribute("visibility", "visible");

    const show = () => {
      const frame = replay.frames[slider.valueAsNumber];
      const now = replay.states[frame.state];
      when.textContent = `${time(frame.at - replay.begins)} · step ${slider.valueAsNumber + 1} of ${last + 1}`;
      slider.setAttribute("aria-valuetext", `${sentence(now)} Step ${slider.valueAsNumber + 1} of ${last + 1}`);
      state.textContent = sentence(now);
      events.replaceChildren(...frame.events.map(eventLine));
      agents.replaceChildren(...now.agents.map((agent) => agentRow(agent, now.speaker)));
      playhead.setAttribute("transform", `translate(${frame.x} 0)`);
      const middle = frame.x - (sheet.clientWidth + names.clientWidth) / 2;
      sheet.scrollLeft = Math.max(0, middle);
    };

    const go = (by) => {
      slider.value = Math.min(last, Math.max(0, slider.valueAsNumber + by));
      show();
    };
    let playing = 0;
    const stop = () => {
      clearInterval(playing);
      playing = 0;
      play.textContent = "Play";
    };
    const play = make("button", { type: "button", textContent: "Play" });
    play.onclick = () => {
      if (playing) return stop();
      if (slider.valueAsNumber === last) slider.value = 0;
      play.textContent = "Pause";
      playing = setInterval(() => (slider.valueAsNumber === last ? stop() : go(1)), 450);
      return show();
    };
    slider.oninput = () => {
      if (playing) stop();
      show();
    };
    place.append(
      make("div", { className: "transport" },
        button("‹", "One step back", () => go(-1)), play, button("›", "One step on", () => go(1)), slider, when),
      sheet, state,
      make("div", { className: "halves" },
        make("section", {}, make("h2", { textContent: "In this step" }), events),
        make("section", {}, make("h2", { textContent: "After it" }),
          make("table", {}, headings("Agent", "Turn", "May it speak?"), agents))));
    if (replay.left_out > 0) {
      place.append(make("p", { className: "no-score", textContent: `The recording goes on: ${replay.left_out} further inputs are not shown.` }));
    }
    show();
  };

  const inside = document.getElementById("replay-data");
  if (inside) window.showReplay(document.getElementById("replay"), JSON.parse(inside.textContent));
})();
