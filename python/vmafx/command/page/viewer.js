// Compares the pictures of a frame, two at once under one cursor: wipe, flicker, difference, side by side, with both in
// step when they are zoomed and moved, and maps over them. The frames are those of the page, or all of whole files (live.js).
"use strict";
const viewer = (() => {
  const MODES = { wipe: "Wipe", flicker: "Flicker", difference: "Difference", side: "Side by side" };
  const GAINS = [1, 4, 16];
  const FLICKER_MS = 500; // twice a second, slower than what harms people
  const MOST_ZOOM = 32;
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  const { make, button, clamped } = elements;

  const mapOf = (image) => {
    if (!image) return null;
    const [width, height] = ["width", "height"].map((name) => parseFloat(image.getAttribute(name)) / 100);
    return { src: image.src, width, height, problem: "" };
  };
  const frames = [...document.querySelectorAll(".frame")].map((item) => ({
    item,
    number: Number(item.dataset.frame),
    time: Number(item.dataset.time),
    title: item.querySelector("p").textContent,
    pictures: [...item.querySelectorAll("figure")]
      .map((figure) => ({
        image: figure.querySelector("img"),
        name: figure.querySelector(".name").title,
        brief: figure.querySelector(".name").dataset.brief,
        score: figure.querySelector(".value")?.textContent ?? "",
        map: mapOf(figure.querySelector(".map")),
      }))
      .filter(({ image }) => image),
  }));
  const compared = frames.filter(({ pictures }) => pictures.length > 1);
  const listed = {
    first: compared[0],
    step: (frame, steps) => compared[(compared.indexOf(frame) + steps + compared.length) % compared.length],
  };
  const source = typeof live === "undefined" ? listed : live;
  if (!source.first) return null;

  // -- What is shown -------------------------------------------------------------------------------------------------

  const view = {
    frame: source.first,
    left: 0, // places among the pictures of the frame
    right: 1,
    mode: "wipe",
    gain: 1,
    wipe: 0.5,
    isSwapped: false,
    zoom: 0, // pixels of CSS for a sample of the first picture; 0: the whole picture fits
    x: 0, // the middle, in samples
    y: 0,
    isMapped: false,
    opacity: 0.6, // of maps
  };
  const scaleOfMaps = document.querySelector(".map-scale");
  const mapsOnPage = document.getElementById("show-maps");
  view.isMapped = scaleOfMaps !== null && (mapsOnPage?.checked ?? true);
  let timer = null;
  let opener = null;

  const layers = [0, 1].map((i) => {
    const image = make("img", { alt: "", draggable: false });
    const tag = make("span", { className: `tag ${i ? "right" : "left"}` });
    return { image, tag, box: make("div", { className: "layer" }, image) };
  });
  const handle = make("div", {
    className: "handle",
    tabIndex: 0,
    attributes: { role: "slider", "aria-label": "Wipe", "aria-valuemin": 0, "aria-valuemax": 100 },
  });
  const stack = make("div", { className: "stack" }, ...layers.map(({ box }) => box));
  // Maps lie over both pictures, cut as these are, and out of reach of their difference.
  const maps = (scaleOfMaps ? layers : []).map(() => {
    const image = make("img", { alt: "", draggable: false });
    return { image, box: make("div", { className: "layer" }, image) };
  });
  const over = make("div", { className: "stack over" }, ...maps.map(({ box }) => box));
  const scene = make(
    "div",
    {
      className: "scene",
      tabIndex: 0,
      attributes: { role: "application", "aria-label": "Pictures: arrow keys move them, plus and minus zoom" },
    },
    stack,
    over,
    handle,
    ...layers.map(({ tag }) => tag),
  );
  const title = make("h2", { id: "viewer-title" });
  const status = make("p", { className: "status", attributes: { "aria-live": "polite" } });
  const samples = make("p", { className: "samples" });
  const choices = ["Left", "Right"].map((text) => make("select", { attributes: { "aria-label": `${text} picture` } }));
  const modes = Object.entries(MODES).map(([mode, text]) =>
    Object.assign(button(text, `${text} (${text[0].toLowerCase()})`, () => setMode(mode)), { value: mode }),
  );
  const gain = button("×1", "Amplify the difference (g)", () => KEYS.g());
  const mapping = button("Map", "Where the frame loses its score (o)", () => setMapped(!view.isMapped));
  const opacity = make("input", {
    type: "range",
    title: "Opacity of the map (, and .)",
    attributes: { min: 0, max: 100, step: 5, "aria-label": "Opacity of the map" },
  });
  mapping.value = "map"; // it looks pressed as the views do
  const mapTools = () =>
    make(
      "span",
      { className: "group", attributes: { role: "group", "aria-label": "Map" } },
      mapping,
      opacity,
      scaleOfMaps.cloneNode(true),
    );
  const zoomed = make("span", { className: "zoomed" });
  const dialog = make(
    "dialog",
    { className: "viewer", attributes: { "aria-labelledby": "viewer-title" } },
    make(
      "div",
      { className: "row" },
      title,
      button("‹", "Frame before (p)", () => toFrame(-1)),
      button("›", "Next frame (n)", () => toFrame(1)),
      button("Close", "Close (Esc)", () => dialog.close()),
    ),
    make(
      "div",
      { className: "row tools" },
      ...choices,
      make("span", { className: "group", attributes: { role: "group", "aria-label": "View" } }, ...modes, gain),
      make(
        "span",
        { className: "group", attributes: { role: "group", "aria-label": "Zoom" } },
        button("−", "Smaller (-)", () => zoomBy(1 / 2)),
        zoomed,
        button("+", "Larger (+)", () => zoomBy(2)),
        button("fit", "Whole picture (0)", () => fit()),
        button("1:1", "A sample for each pixel (1)", () => zoomTo(1 / devicePixelRatio)),
      ),
      ...(scaleOfMaps ? [mapTools()] : []),
    ),
    scene,
    ...(source.parts ?? []),
    make("div", { className: "row foot" }, status, samples),
    make("p", {
      className: "keys",
      textContent:
        "w wipe, f flicker, d difference, s side by side; space swaps, [ and ] move the wipe, g amplifies; " +
        "arrows move, + and - zoom, 0 fits, 1 shows samples as pixels; " +
        "l and r choose the next left and right picture, n and p the next and the previous frame; " +
        (scaleOfMaps ? "o shows the map, comma and full stop change its opacity; " : "") +
        `${source.keysTold ?? ""}Esc closes`,
    }),
  );
  document.body.append(dialog);

  // -- The place of pictures -----------------------------------------------------------------------------------------

  // All pictures of a frame take the room of the first one, as players show encodes of other sizes.
  const size = () => {
    const { image } = view.frame.pictures[0];
    return [image.naturalWidth || 1, image.naturalHeight || 1];
  };
  const room = () => {
    const box = layers[0].box.getBoundingClientRect();
    return [box.width || 1, box.height || 1];
  };
  const fitting = () => Math.min(room()[0] / size()[0], room()[1] / size()[1]);
  const zoomOf = () => view.zoom || fitting();

  const lay = () => {
    const [width, height] = size();
    const [across, down] = room();
    const zoom = zoomOf();
    if (!view.zoom) [view.x, view.y] = [width / 2, height / 2];
    view.x = across >= width * zoom ? width / 2 : clamped(view.x, across / 2 / zoom, width - across / 2 / zoom);
    view.y = down >= height * zoom ? height / 2 : clamped(view.y, down / 2 / zoom, height - down / 2 / zoom);
    for (const { image } of layers) {
      image.style.width = `${width}px`;
      image.style.height = `${height}px`;
      image.style.transform = `translate(${across / 2 - view.x * zoom}px, ${down / 2 - view.y * zoom}px) scale(${zoom})`;
    }
    maps.forEach(({ image }, side) => {
      const map = pictureOf(side).map ?? { width: 1, height: 1 };
      image.style.width = `${width * map.width}px`;
      image.style.height = `${height * map.height}px`;
      image.style.clipPath = `inset(0 ${100 - 100 / map.width}% ${100 - 100 / map.height}% 0)`;
      image.style.transform = layers[side].image.style.transform;
    });
    scene.classList.toggle("large", zoom * devicePixelRatio >= 2);
    const percent = zoom * devicePixelRatio * 100;
    zoomed.textContent = `${percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
  };
  const fit = () => {
    view.zoom = 0;
    lay();
  };
  // The sample below a point of the scene stays there.
  const zoomTo = (zoom, at) => {
    const [across, down] = room();
    const [dx, dy] = at ? [at[0] - across / 2, at[1] - down / 2] : [0, 0];
    const old = zoomOf();
    const wanted = clamped(zoom, fitting(), MOST_ZOOM);
    view.x += dx / old - dx / wanted;
    view.y += dy / old - dy / wanted;
    view.zoom = wanted <= fitting() * 1.001 ? 0 : wanted;
    lay();
  };
  const zoomBy = (factor, at) => zoomTo(zoomOf() * factor, at);
  const move = (dx, dy) => {
    if (!view.zoom) return;
    view.x += dx / view.zoom;
    view.y += dy / view.zoom;
    lay();
  };

  // -- Views ---------------------------------------------------------------------------------------------------------

  const pictureOf = (side) => view.frame.pictures[side ? view.right : view.left];
  const described = ({ name, score }) => (score ? `${name}, ${score}` : name);
  const briefly = (own) => described({ ...own, name: own.brief });

  const setWipe = (part) => {
    view.wipe = clamped(part, 0, 1);
    const percent = Math.round(view.wipe * 100);
    for (const own of [layers[1], maps[1]]) {
      if (own) own.box.style.clipPath = view.mode === "wipe" ? `inset(0 0 0 ${view.wipe * 100}%)` : "none";
    }
    handle.style.left = `${view.wipe * 100}%`;
    handle.setAttribute("aria-valuenow", percent);
    handle.setAttribute("aria-valuetext", `${percent} % ${pictureOf(0).name}`);
  };
  const swap = () => {
    view.isSwapped = !view.isSwapped;
    show();
  };
  const setMode = (mode) => {
    view.mode = mode;
    view.isSwapped = false;
    show();
    lay();
  };

  const setMapped = (isMapped) => {
    if (!scaleOfMaps) return;
    view.isMapped = isMapped;
    if (mapsOnPage) mapsOnPage.checked = isMapped;
    if (isMapped && view.frame.ready && dialog.open) go(view.frame);
    else show();
  };
  const setOpacity = (part) => {
    view.opacity = clamped(Math.round(part * 20) / 20, 0, 1);
    document.documentElement.style.setProperty("--map", view.opacity);
    show();
  };
  const lacksMap = () => view.isMapped && dialog.open && [0, 1].some((side) => pictureOf(side).map?.src === "");

  const wordsOfMap = () => {
    if (!view.isMapped) return "";
    const shown = [0, 1].map((side) => pictureOf(side).map).filter(Boolean);
    const problem = shown.find((map) => map.problem)?.problem;
    return problem ? `; map: ${problem}` : shown.length ? `; map at ${Math.round(view.opacity * 100)} %` : "";
  };
  const words = () => `${wordsOfView()}${wordsOfMap()}`;
  const wordsOfView = () => {
    const [left, right] = [pictureOf(0), pictureOf(1)].map(described);
    if (view.mode === "flicker" || view.isSwapped) return `${MODES[view.mode]}: ${view.isSwapped ? right : left}`;
    if (view.mode === "difference") return `Difference of ${left} and ${right}, times ${view.gain}`;
    return `${MODES[view.mode]}: ${left} left, ${right} right`;
  };
  const show = () => {
    scene.dataset.mode = view.mode;
    scene.classList.toggle("swapped", view.isSwapped);
    layers.forEach(({ image, tag }, i) => {
      const own = pictureOf(i);
      if (image.src !== own.image.src) image.src = own.image.src;
      image.alt = own.image.alt;
      tag.textContent = briefly(own);
    });
    modes.forEach((own) => own.setAttribute("aria-pressed", own.value === view.mode));
    gain.hidden = view.mode !== "difference";
    gain.textContent = `×${view.gain}`;
    stack.style.filter = view.mode === "difference" && view.gain > 1 ? `brightness(${view.gain})` : "none";
    maps.forEach(({ image }, side) => {
      const src = (view.isMapped && pictureOf(side).map?.src) || "";
      image.hidden = !src;
      if (src && image.src !== src) image.src = src;
    });
    over.style.opacity = view.opacity;
    mapping.setAttribute("aria-pressed", view.isMapped);
    opacity.value = Math.round(view.opacity * 100);
    opacity.disabled = !view.isMapped;
    handle.hidden = view.mode !== "wipe";
    setWipe(view.wipe);
    clearInterval(timer);
    const isTimed = view.mode === "flicker" && dialog.open && !still.matches;
    timer = isTimed ? setInterval(turn, FLICKER_MS) : null;
    // A reader of the screen does not hear each turn.
    status.setAttribute("aria-live", isTimed ? "off" : "polite");
    status.textContent = view.mode === "flicker" && still.matches ? `${words()}; space shows the other one` : words();
  };
  const turn = () => {
    view.isSwapped = !view.isSwapped;
    scene.classList.toggle("swapped", view.isSwapped);
    status.textContent = words();
  };

  const fill = () => {
    title.textContent = view.frame.title;
    choices.forEach((choice, side) => {
      const options = view.frame.pictures.map((own, i) => make("option", { value: i, textContent: briefly(own) }));
      choice.replaceChildren(...options);
      choice.value = side ? view.right : view.left;
    });
    samples.textContent = "";
  };
  const choose = (side, number) => {
    const chosen = number % view.frame.pictures.length;
    if (side) view.right = chosen;
    else view.left = chosen;
    choices[side].value = chosen;
    if (view.frame.ready) go(view.frame);
    else show();
  };
  const toFrame = (steps) => go(source.step(wanted ?? view.frame, steps));

  let wanted = null; // the frame that is shown once its pictures are there
  let loading = null; // ends when they are
  const load = async () => {
    while (wanted) {
      const next = wanted;
      await next.ready([next.pictures[view.left], next.pictures[view.right]]);
      if (wanted !== next) continue;
      wanted = null;
      open(next, null);
    }
    loading = null;
  };
  // Shows a frame; of several that are wanted one after another, those that come too late are left out.
  const go = (frame) => {
    if (!frame.ready) return open(frame, null);
    wanted = frame;
    loading ??= load();
    return loading;
  };

  const open = (frame, right) => {
    const isOpen = dialog.open;
    if (!isOpen) opener = document.activeElement;
    const old = pictureOf(1).name;
    view.frame = frame;
    const same = frame.pictures.findIndex(({ name }) => name === old);
    view.right = right ?? (isOpen && same > 0 ? same : 1);
    if (view.left >= frame.pictures.length || view.left === view.right) view.left = view.right ? 0 : 1;
    fill();
    if (!isOpen) {
      dialog.showModal();
      scene.focus();
      view.zoom = 0;
    }
    show();
    lay();
    if (source.shown) source.shown(frame);
    else place.write(frame.time, frame.number);
  };

  // -- Keys and pointers ---------------------------------------------------------------------------------------------

  const STEP = 40; // pixels
  const KEYS = {
    w: () => setMode("wipe"),
    f: () => setMode("flicker"),
    d: () => setMode("difference"),
    s: () => setMode("side"),
    " ": swap,
    "[": () => setWipe(view.wipe - 0.02),
    "]": () => setWipe(view.wipe + 0.02),
    g: () => {
      view.gain = GAINS[(GAINS.indexOf(view.gain) + 1) % GAINS.length];
      show();
    },
    "+": () => zoomBy(2),
    "=": () => zoomBy(2),
    "-": () => zoomBy(1 / 2),
    0: fit,
    1: () => zoomTo(1 / devicePixelRatio),
    l: () => choose(0, view.left + 1),
    r: () => choose(1, view.right + 1),
    n: () => toFrame(1),
    p: () => toFrame(-1),
    o: () => setMapped(!view.isMapped),
    ",": () => setOpacity(view.opacity - 0.1),
    ".": () => setOpacity(view.opacity + 0.1),
    ArrowLeft: () => move(-STEP, 0),
    ArrowRight: () => move(STEP, 0),
    ArrowUp: () => move(0, -STEP),
    ArrowDown: () => move(0, STEP),
    ...source.keys,
  };
  const WIPE_KEYS = { ArrowLeft: -0.02, ArrowRight: 0.02, PageDown: -0.1, PageUp: 0.1, Home: -1, End: 1 };
  dialog.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "SELECT") return;
    if (event.target === opacity && event.key in WIPE_KEYS) return;
    if (event.target === handle && event.key in WIPE_KEYS) setWipe(view.wipe + WIPE_KEYS[event.key]);
    else if (event.key === " " && event.target.tagName === "BUTTON") return;
    else if (event.key in KEYS) KEYS[event.key]();
    else return;
    event.preventDefault();
  });

  const pointers = new Map();
  let isWiping = false;
  let held = null; // the layer where a pointer went down
  const isIn = (box, { clientX: x, clientY: y }) => x >= box.left && x < box.right && y >= box.top && y < box.bottom;
  const layerAt = (event) => {
    const right = layers[1].box;
    return view.mode === "side" && isIn(right.getBoundingClientRect(), event) ? right : layers[0].box;
  };
  const at = (event) => {
    const box = (held ?? layerAt(event)).getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spread = () => {
    const [one, two] = [...pointers.values()];
    return Math.hypot(one[0] - two[0], one[1] - two[1]);
  };
  scene.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    isWiping = event.target === handle;
    held = held ?? layerAt(event);
    pointers.set(event.pointerId, at(event));
    scene.setPointerCapture(event.pointerId);
  });
  scene.addEventListener("pointermove", (event) => {
    const here = at(event);
    const before = pointers.get(event.pointerId);
    if (view.mode === "wipe" && (isWiping || (!before && event.pointerType === "mouse"))) setWipe(here[0] / room()[0]);
    else if (before && pointers.size === 1) move(before[0] - here[0], before[1] - here[1]);
    else if (before && pointers.size === 2) {
      const wide = spread();
      pointers.set(event.pointerId, here);
      zoomBy(spread() / Math.max(wide, 1), here);
    }
    if (before) pointers.set(event.pointerId, here);
    sayAt(here);
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    scene.addEventListener(kind, (event) => {
      pointers.delete(event.pointerId);
      if (!pointers.size) held = null;
      isWiping = false;
    });
  }
  scene.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomBy(2 ** (-event.deltaY / (event.deltaMode ? 6 : 240)), at(event));
  }, { passive: false });
  scene.addEventListener("dblclick", (event) => (view.zoom ? fit() : zoomTo(2 / devicePixelRatio, at(event))));

  const canvas = make("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  // Says red, green and blue of both pictures below the cursor.
  const sayAt = ([px, py]) => {
    const [width, height] = size();
    const [across, down] = room();
    const x = Math.floor(view.x + (px - across / 2) / zoomOf());
    const y = Math.floor(view.y + (py - down / 2) / zoomOf());
    if (x < 0 || y < 0 || x >= width || y >= height) return (samples.textContent = "");
    const [left, right] = layers.map(({ image }) => {
      const [sx, sy] = [Math.floor((x / width) * image.naturalWidth), Math.floor((y / height) * image.naturalHeight)];
      canvas.drawImage(image, sx, sy, 1, 1, 0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).join(" ");
    });
    samples.textContent = `${x}, ${y}: ${left} | ${right}`;
  };

  opacity.addEventListener("input", () => setOpacity(opacity.value / 100));
  mapsOnPage?.addEventListener("change", () => setMapped(mapsOnPage.checked));
  choices.forEach((choice, side) => choice.addEventListener("change", () => choose(side, Number(choice.value))));
  dialog.addEventListener("close", () => {
    clearInterval(timer);
    opener?.focus();
  });
  layers.forEach(({ image }) => image.addEventListener("load", lay));
  still.addEventListener("change", show);
  new ResizeObserver(() => dialog.open && lay()).observe(scene);

  for (const frame of compared) {
    const opening = button("Compare", "Compare these pictures: wipe, flicker, difference", () => open(frame, null));
    opening.className = "compare";
    opening.setAttribute("aria-label", `Compare the pictures of frame ${frame.number}`);
    frame.item.querySelector("p").append(" ", opening);
    frame.pictures.forEach(({ image }, i) => {
      (image.closest(".shot") ?? image).addEventListener("click", () => open(frame, i || null));
    });
  }
  document.documentElement.classList.add("compares");
  place.watch(({ time, frame }, section) => {
    if (source.find) return go(source.find(time, frame));
    const found = frames.find(({ number }) => number === frame);
    document.querySelectorAll(".frame.here").forEach((item) => item.classList.remove("here"));
    if (!found) return;
    found.item.classList.add("here");
    for (let fold = found.item.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    // A link in the list of frames leads to the curve instead.
    if (!section?.contains(found.item)) found.item.scrollIntoView({ block: "center" });
  });

  // Shows the frame anew, whose scores may have come.
  const refresh = () => {
    view.frame = source.step(view.frame, 0);
    if (lacksMap()) return void go(view.frame);
    fill();
    show();
  };
  return {
    go,
    refresh,
    lacksMap,
    current: () => wanted ?? view.frame,
    sides: () => [view.left, view.right],
    isOpen: () => dialog.open,
    isMapped: () => view.isMapped,
  };
})();
