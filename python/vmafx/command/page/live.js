// Has the viewer show any frame of whole files: pictures that the server decodes, a timeline with the scores as they
// come, and playing.
"use strict";
const live = (() => {
  const facts = JSON.parse(document.getElementById("live").textContent);
  const MOST_KEPT = 96; // pictures and maps
  const AHEAD = 4; // frames that are fetched before they are played
  const MOST_FAILURES = 3; // of connecting again to a server that has ended
  const APART_S = 1; // between worst frames
  const GUTTER = 44; // pixels beside the curves, for the ends of their axis
  const PLACE_MS = 300; // the address tells a frame after so long: browsers refuse too many changes

  const { make, button, clamped } = elements;
  const timeText = (seconds) => {
    const ms = Math.round(Math.max(seconds, 0) * 1000);
    const part = `${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}.${String(ms % 1000).padStart(3, "0")}`;
    const minutes = Math.floor(ms / 60000);
    return minutes < 60 ? `${minutes}:${part}` : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${part}`;
  };

  // -- Scores --------------------------------------------------------------------------------------------------------

  const series = new Map(); // by encode and key
  let key = facts.keys[0] ?? "";
  let state = { state: "none", problem: "" };
  const seriesOf = (encode, own = key) => series.get(`${encode} ${own}`);

  // The place of the last frame up to this number.
  const placeOf = ({ frames }, number) => {
    let low = 0;
    let high = frames.length - 1;
    if (frames[number - frames[0]] === number) return number - frames[0];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (frames[middle] > number) high = middle - 1;
      else low = middle;
    }
    return low;
  };
  const first = () => [...series.values()].find(({ encode }) => encode === 0);
  // How many frames there are: those that the files promise, or that have scores.
  const count = () => Math.max(facts.frames ?? 1, (first()?.frames.at(-1) ?? 0) + 1);
  const timeOf = (number) => {
    const own = first();
    const place = own?.frames.length ? placeOf(own, number) : -1;
    if (place >= 0 && own.frames[place] === number) return own.times[place];
    const [from, begin] = place >= 0 ? [own.frames[place], own.times[place]] : [0, facts.start];
    return begin + (number - from) / facts.rate;
  };
  const numberAt = (time) => {
    let [low, high] = [0, count() - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (timeOf(middle) < time - 0.5 / facts.rate) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const scoreOf = (encode, number) => {
    const own = seriesOf(encode);
    const place = own?.frames.length ? placeOf(own, number) : 0;
    const score = own?.frames[place] === number ? own.scores[place] : null;
    return score === null || score === undefined ? "" : score.toFixed(Math.abs(score) > 1.5 ? 2 : 4);
  };

  // -- Pictures ------------------------------------------------------------------------------------------------------

  const kept = new Map(); // promises of addresses within this page, by the server's addresses; the oldest first
  const load = (path) => {
    const known = kept.get(path);
    if (known) {
      kept.delete(path);
      kept.set(path, known);
      return known;
    }
    const loading = fetched(path);
    kept.set(path, loading);
    for (const [oldest, own] of kept) {
      if (kept.size <= MOST_KEPT) break;
      kept.delete(oldest);
      own.then(({ src }) => src && URL.revokeObjectURL(src));
    }
    return loading;
  };
  const fetched = async (path) => {
    try {
      const answer = await fetch(path);
      if (answer.status === 204) {
        kept.delete(path); // it may be scored later
        return { src: "", problem: "not scored yet" };
      }
      if (!answer.ok) return { src: "", problem: await answer.text() };
      const src = URL.createObjectURL(await answer.blob());
      const image = new Image();
      image.src = src;
      await image.decode();
      return { src, problem: "" };
    } catch {
      kept.delete(path);
      return { src: "", problem: "vmafx view has ended" };
    }
  };
  const pictureOf = (input, number, time) => {
    const isRef = input === 0;
    const name = isRef ? facts.reference : facts.names[input - 1];
    const file = isRef ? facts.names.length : input - 1; // as the server counts them
    const own = {
      image: { src: "", alt: `frame ${number} of ${name}`, naturalWidth: facts.width, naturalHeight: facts.height },
      name: isRef ? "reference" : name,
      brief: isRef ? "reference" : facts.brief[input - 1],
      score: isRef ? "" : scoreOf(input - 1, number),
      path: `picture/${file}/${Math.round(time * 1e6)}`,
      map: isRef || !facts.maps ? null : { src: "", problem: "", ...facts.maps },
      load: async () => {
        if (own.map && viewer.isMapped()) {
          const { src, problem } = await load(`map/${file}/${number}`);
          Object.assign(own.map, { src, problem: problem.trim() });
        }
        const { src, problem } = await load(own.path);
        own.image.src = src;
        if (problem) Object.assign(own, { score: problem.trim(), isFailed: true });
      },
    };
    return own;
  };

  const frameAt = (number) => {
    const time = timeOf(number);
    const encodes = facts.names.map((_, i) => i + 1);
    const pictures = [0, ...encodes].map((input) => pictureOf(input, number, time));
    const title = `frame ${number} at ${timeText(time)}`;
    return { number, time, title, pictures, ready: (chosen) => Promise.all(chosen.map((own) => own.load())) };
  };
  const step = (frame, steps) => {
    const next = frameAt(clamped(frame.number + steps, 0, count() - 1));
    if (!steps) {
      next.pictures.forEach((own, i) => {
        own.image.src = frame.pictures[i].image.src;
        own.map = frame.pictures[i].map;
      });
    }
    return next;
  };
  const seconds = (steps) => viewer.go(step(viewer.current(), Math.round(steps * facts.rate)));

  let placing = null;
  // Tells whether scores came after the frame was made.
  const isStale = ({ pictures, number }) =>
    pictures.some(({ score, isFailed }, i) => i && !isFailed && score !== scoreOf(i - 1, number));
  const shown = (frame) => {
    if (isStale(frame) && !viewer.lacksMap()) viewer.refresh();
    clearTimeout(placing);
    placing = setTimeout(() => place.write(frame.time, frame.number), PLACE_MS);
    draw();
  };

  // -- Playing -------------------------------------------------------------------------------------------------------

  let isPlaying = false;
  const play = async () => {
    isPlaying = !isPlaying;
    playing.setAttribute("aria-pressed", isPlaying);
    const begun = performance.now();
    for (let done = 0; isPlaying && viewer.isOpen(); done++) {
      const due = performance.now() + 1000 / facts.rate;
      const { number } = viewer.current();
      if (number >= count() - 1) break;
      const sides = viewer.sides();
      for (let ahead = 2; ahead <= AHEAD && number + ahead < count(); ahead++) {
        const next = frameAt(number + ahead);
        sides.forEach((side) => load(next.pictures[side].path));
      }
      await viewer.go(frameAt(number + 1));
      await new Promise((wake) => setTimeout(wake, Math.max(due - performance.now(), 0)));
      speed.textContent = `${((1000 * (done + 1)) / (performance.now() - begun)).toFixed(1)} frames a second`;
    }
    isPlaying = false;
    playing.setAttribute("aria-pressed", "false");
    speed.textContent = "";
  };

  // -- The worst frames ----------------------------------------------------------------------------------------------

  let visited = []; // numbers of worst frames, the worst first
  const nextWorst = () => {
    const own = seriesOf(Math.max(viewer.sides()[1] - 1, 0));
    if (!own?.scores.length) return;
    if (!visited.includes(viewer.current().number)) visited = [];
    const sign = facts.worse_high.includes(key) ? -1 : 1;
    const isApart = (time) => visited.every((number) => Math.abs(timeOf(number) - time) >= APART_S);
    let worst = -1;
    own.scores.forEach((score, i) => {
      if (score === null || (worst >= 0 && sign * score >= sign * own.scores[worst])) return;
      if (isApart(own.times[i])) worst = i;
    });
    if (worst < 0) return void (visited = []);
    visited.push(own.frames[worst]);
    viewer.go(frameAt(own.frames[worst]));
  };

  // -- The timeline --------------------------------------------------------------------------------------------------

  const canvas = make("canvas", { className: "curves", attributes: { "aria-hidden": "true" } });
  const timeline = make(
    "div",
    {
      className: "timeline",
      tabIndex: 0,
      attributes: { role: "slider", "aria-label": "Frame", "aria-valuemin": 0 },
    },
    canvas,
  );
  const playing = button("Play", "Play (k)", () => play());
  playing.setAttribute("aria-pressed", "false");
  const keys = make("select", { attributes: { "aria-label": "Score" }, hidden: true });
  const speed = make("span", { className: "status" });
  const told = make("span", { className: "status", attributes: { role: "status" } });
  const legend = make("span", { className: "legend" });
  const bar = make(
    "div",
    { className: "row" },
    make(
      "span",
      { className: "group", attributes: { role: "group", "aria-label": "Time" } },
      button("−1 s", "A second back (P)", () => seconds(-1)),
      playing,
      button("+1 s", "A second ahead (N)", () => seconds(1)),
      button("Worst", "The next worst frame (x)", () => nextWorst()),
    ),
    keys,
    told,
    speed,
    legend,
  );
  // Says which curve is whose, with the scores of a frame.
  const sayScores = (number) => {
    const words = facts.names.map((name, encode) => {
      const swatch = make("span", { className: "swatch" });
      swatch.style.background = color(`--c${encode % 8}`);
      return make("span", {}, swatch, `${name} `, make("b", { textContent: scoreOf(encode, number) }));
    });
    legend.replaceChildren(...words);
  };

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // The lowest and the highest score that is drawn; null if there is none.
  const rangeOf = (curves) => {
    let [low, high] = [Infinity, -Infinity];
    for (const { scores } of curves) {
      for (const score of scores) {
        if (score === null) continue;
        if (score < low) low = score;
        if (score > high) high = score;
      }
    }
    return low <= high ? [low, high] : null;
  };
  // The height of a score, with some room above the highest one and below the lowest one.
  const heightOf = ([low, high], height) => {
    const margin = Math.max((high - low) * 0.08, 0.01);
    return (score) => height * (1 - (score - low + margin) / (high - low + 2 * margin));
  };
  const drawCurve = (context, { frames, scores }, y, width) => {
    const columnOf = (frame) => Math.floor((frame / count()) * width);
    context.beginPath();
    for (let i = 0; i < frames.length; ) {
      // All frames of a column of pixels become a line from the lowest to the highest one.
      const column = columnOf(frames[i]);
      let [least, most] = [Infinity, -Infinity];
      for (; i < frames.length && columnOf(frames[i]) === column; i++) {
        if (scores[i] === null) continue;
        least = Math.min(least, scores[i]);
        most = Math.max(most, scores[i]);
      }
      if (least > most) continue;
      context.lineTo(GUTTER + column + 0.5, y(most));
      if (least < most) context.lineTo(GUTTER + column + 0.5, y(least));
    }
    context.stroke();
  };
  let drawing = 0;
  const draw = () => {
    cancelAnimationFrame(drawing);
    drawing = requestAnimationFrame(() => {
      const [width, height] = [timeline.clientWidth - GUTTER, timeline.clientHeight];
      const scale = devicePixelRatio;
      Object.assign(canvas, { width: (GUTTER + width) * scale, height: height * scale });
      const context = canvas.getContext("2d");
      context.scale(scale, scale);
      const curves = facts.names.map((_, encode) => seriesOf(encode)).filter(Boolean);
      const scored = Math.max(0, ...curves.map(({ frames }) => (frames.at(-1) ?? -1) + 1));
      context.fillStyle = color("--faint");
      context.fillRect(GUTTER, 0, (width * scored) / count(), height);
      const range = rangeOf(curves);
      const y = heightOf(range ?? [0, 0], height);
      context.lineWidth = 1.2;
      for (const own of curves) {
        context.strokeStyle = color(`--c${own.encode % 8}`);
        context.setLineDash(own.encode < 8 ? [] : [5, 3]);
        drawCurve(context, own, y, width);
      }
      if (range) {
        context.fillStyle = color("--quiet");
        context.font = "11px system-ui, sans-serif";
        context.textAlign = "right";
        context.fillText(range[1].toFixed(1), GUTTER - 6, 12);
        if (range[0] < range[1]) context.fillText(range[0].toFixed(1), GUTTER - 6, height - 4);
      }
      timeline.dataset.range = range ? range.map((score) => score.toFixed(1)).join(" ") : "";
      const { number, title } = viewer.current();
      context.fillStyle = color("--ink");
      context.fillRect(GUTTER + Math.round((width * (number + 0.5)) / count()) - 1, 0, 2, height);
      timeline.setAttribute("aria-valuemax", count() - 1);
      timeline.setAttribute("aria-valuenow", number);
      timeline.setAttribute("aria-valuetext", title);
      told.textContent = words(scored);
      sayScores(number);
    });
  };
  const words = (scored) => {
    if (state.state === "failed") return `scoring has failed: ${state.problem}`;
    if (state.state === "ended") return "vmafx view has ended";
    if (state.state === "running") return `${key || "scores"}: ${scored} of ${count()} frames`;
    return state.state === "done" ? `${key}: all ${scored} frames` : "not scored";
  };

  const seek = (event) => {
    const box = timeline.getBoundingClientRect();
    const part = clamped((event.clientX - box.left - GUTTER) / (box.width - GUTTER), 0, 1);
    viewer.go(frameAt(Math.min(Math.floor(part * count()), count() - 1)));
  };
  timeline.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    timeline.setPointerCapture(event.pointerId);
    seek(event);
  });
  timeline.addEventListener("pointermove", (event) => timeline.hasPointerCapture(event.pointerId) && seek(event));
  const TIMELINE_KEYS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };
  timeline.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in TIMELINE_KEYS) viewer.go(step(viewer.current(), TIMELINE_KEYS[event.key]));
    else if (event.key === "PageUp" || event.key === "PageDown") seconds(event.key === "PageUp" ? 10 : -10);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  new ResizeObserver(() => draw()).observe(timeline);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());

  // -- What the server tells -----------------------------------------------------------------------------------------

  const setKey = (next) => {
    key = next;
    keys.value = key;
    visited = [];
    viewer.refresh();
    draw();
  };
  const take = (message) => {
    if (message.series) {
      const name = `${message.encode} ${message.key}`;
      if (!series.has(name)) series.set(name, { encode: message.encode, key: message.key, frames: [], times: [], scores: [] });
      const own = series.get(name);
      for (const part of ["frames", "times", "scores"]) for (const value of message[part]) own[part].push(value);
      const names = [...new Set([...series.values()].map((one) => one.key))];
      keys.replaceChildren(...names.map((value) => make("option", { value, textContent: value })));
      keys.hidden = names.length < 2;
      if (!names.includes(key)) key = names[0];
      keys.value = key;
      if (!isPlaying && !viewer.lacksMap() && isStale(viewer.current())) viewer.refresh();
    } else {
      state = message;
      const link = document.getElementById("report");
      if (link && state.state === "done") link.hidden = false;
    }
    if (!isPlaying && viewer.lacksMap()) viewer.refresh();
    draw();
  };
  const begin = () => {
    keys.addEventListener("change", () => setKey(keys.value));
    document.getElementById("open").addEventListener("click", () => viewer.go(viewer.current()));
    const events = new EventSource("events");
    events.addEventListener("message", (event) => take(JSON.parse(event.data)));
    let failures = 0;
    events.addEventListener("error", () => {
      state = { state: "ended", problem: "" };
      draw();
      if (++failures === MOST_FAILURES) events.close();
    });
    // A connection that is made once more tells all from the beginning.
    events.addEventListener("open", () => {
      failures = 0;
      series.clear();
    });
    if (!/[#&][tf]=/.test(location.hash)) viewer.go(frameAt(0));
  };
  addEventListener("load", begin);

  return {
    first: frameAt(0),
    step,
    find: (time, number) => frameAt(clamped(number ?? numberAt(time), 0, count() - 1)),
    shown,
    parts: [timeline, bar],
    keysTold: "N and P go by a second, Home and End to the ends, x to the next worst frame, k plays, m changes the score; ",
    keys: {
      N: () => seconds(1),
      P: () => seconds(-1),
      Home: () => viewer.go(frameAt(0)),
      End: () => viewer.go(frameAt(count() - 1)),
      k: () => play(),
      x: () => nextWorst(),
      m: () => keys.options.length > 1 && setKey(keys.options[(keys.selectedIndex + 1) % keys.options.length].value),
    },
  };
})();
