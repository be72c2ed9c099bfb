const end = EVENTS.length ? EVENTS[EVENTS.length - 1].t : 0;
const kinds = ["think", "speak", "route", "correct", "journal", "spawn", "brief", "close"];
const hiddenKinds = new Set(["spawn", "brief", "route"]);
const hiddenLanes = new Set();
const byId = (id) => document.getElementById(id);
const svgNode = (name, attributes) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  return node;
};
const laneOf = (slug) => LANES.findIndex((lane) => lane.slug === slug);
const nameOf = (slug) => (LANES.find((lane) => lane.slug === slug) || { name: slug }).name;
const concerns = (event) => (event.from === "coordinator" ? event.target : event.from);
const isShown = (event) => !hiddenKinds.has(event.type) && !hiddenLanes.has(concerns(event));

function checkbox(parent, text, isOn, change) {
  const label = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = isOn;
  box.addEventListener("change", () => { change(box.checked); draw(); });
  label.append(box, " " + text);
  byId(parent).append(label);
}
const toggle = (set, key) => (isOn) => { if (isOn) set.delete(key); else set.add(key); };
for (const kind of kinds) checkbox("kinds", kind, !hiddenKinds.has(kind), toggle(hiddenKinds, kind));
for (const lane of LANES) checkbox("who", lane.name, true, toggle(hiddenLanes, lane.slug));

const slider = byId("at");
slider.max = String(end);
slider.value = String(end);
const LEFT = 130, RIGHT = 15, HIGH = 46, WIDE = 1000;
const x = (t) => LEFT + (end > 0 ? t / end : 0) * (WIDE - LEFT - RIGHT);
const y = (lane) => 24 + lane * HIGH;

function mark(event, lane) {
  const at = { cx: x(event.t), cy: y(lane) };
  if (event.type === "think") return svgNode("circle", { ...at, r: 6, class: "think" });
  if (event.type === "speak") return svgNode("circle", { ...at, cy: at.cy + 12, r: 5, class: "speak" });
  if (event.type === "journal") return svgNode("rect", { x: at.cx - 5, y: at.cy - 5, width: 10, height: 10, class: "journal" });
  if (event.type === "correct") return svgNode("path", { d: `M${at.cx - 5} ${at.cy - 5}l10 10m0 -10l-10 10`, class: "correct" });
  return svgNode("circle", { ...at, r: 2, class: "other" });
}

function draw() {
  const now = Number(slider.value);
  byId("now").textContent = now.toFixed(1) + " s of " + end.toFixed(1) + " s";
  const timeline = byId("timeline");
  timeline.replaceChildren();
  timeline.setAttribute("viewBox", `0 0 ${WIDE} ${Math.max(1, LANES.length) * HIGH + 10}`);
  LANES.forEach((lane, at) => {
    const name = svgNode("text", { x: 8, y: y(at) + 5 });
    name.textContent = lane.name.length > 18 ? lane.name.slice(0, 17) + "…" : lane.name;
    timeline.append(svgNode("line", { x1: LEFT, x2: WIDE - RIGHT, y1: y(at), y2: y(at), class: "lane" }), name);
  });
  let speaker = -1;
  for (const event of EVENTS) {
    const lane = laneOf(concerns(event));
    if (event.type === "speak") speaker = lane;
    if (lane < 0 || !isShown(event)) continue;
    const node = event.type === "route" && speaker >= 0
      ? svgNode("path", { d: `M${x(event.t)} ${y(speaker) + 12}L${x(event.t) + 4} ${y(lane)}`, class: "route" })
      : mark(event, lane);
    if (event.t > now) node.classList.add("later");
    const title = svgNode("title", {});
    title.textContent = `${event.t.toFixed(1)} s ${event.type} ${nameOf(concerns(event))}\n${event.text.slice(0, 400)}`;
    node.append(title);
    timeline.append(node);
  }
  timeline.append(svgNode("line", { x1: x(now), x2: x(now), y1: 0, y2: LANES.length * HIGH + 10, class: "cursor" }));
  const rows = EVENTS.filter((event) => event.t <= now && isShown(event)).map((event) => {
    const row = document.createElement("li");
    row.className = "e-" + event.type;
    const time = document.createElement("span");
    time.className = "t";
    time.textContent = event.t.toFixed(1) + " s";
    const who = document.createElement("strong");
    who.textContent = event.from === "coordinator" ? event.type + (event.target ? " → " + nameOf(event.target) : "") : nameOf(event.from) + (event.type === "speak" ? "" : " (" + event.type + ")");
    if (event.audience) who.classList.add("whisper");
    const words = document.createElement("span");
    words.className = "words";
    words.textContent = event.text;
    row.append(time, who, words);
    return row;
  });
  byId("events").replaceChildren(...rows);
}

let playing = false, last = 0;
function step(at) {
  if (!playing) return;
  const moved = ((at - last) / 1000) * Number(byId("speed").value);
  last = at;
  const now = Math.min(end, Number(slider.value) + moved);
  slider.value = String(now);
  draw();
  if (now >= end) stop(); else requestAnimationFrame(step);
}
function stop() { playing = false; byId("play").textContent = "Play"; }
byId("play").addEventListener("click", () => {
  if (playing) return stop();
  if (Number(slider.value) >= end) slider.value = "0";
  playing = true;
  byId("play").textContent = "Pause";
  requestAnimationFrame((at) => { last = at; step(at); });
});
slider.addEventListener("input", () => { stop(); draw(); });
draw();
