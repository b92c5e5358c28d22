// Draws the curves with dygraphs in place of the pictures: zoom, values under the pointer or at keys, curves that the
// legend hides, and the place that the address names.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const drawn = [];
  let zooming = false;

  const sums = (differences) => {
    let sum = 0;
    return differences.map((difference) => (sum += difference));
  };
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const strokeOf = (line) => {
    const hex = color(`--c${line.color % 8}`);
    return line.means ? `${hex}4d` : hex; // as .faint in style.css
  };
  const colors = () => ({ axisLineColor: color("--line"), gridLineColor: color("--line") });

  const timeText = (ms, decimals) => {
    const s = Math.max(ms, 0) / 1000;
    const part = (s % 60).toFixed(decimals).padStart(decimals ? decimals + 3 : 2, "0");
    const minutes = Math.floor(s / 60);
    return minutes < 60 ? `${minutes}:${part}` : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${part}`;
  };

  // The place of the number nearest to x, in ascending ones.
  const nearest = (xs, x) => {
    let low = 0;
    let high = xs.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (xs[middle] < x) low = middle + 1;
      else high = middle;
    }
    return low > 0 && x - xs[low - 1] < xs[low] - x ? low - 1 : low;
  };
  const holding = (xs, x) => {
    const place = nearest(xs, x);
    return xs[place] > x && place > 0 ? place - 1 : place;
  };

  // One row for each x of any line; one without a point there has null, across which it goes on. NaN is a gap.
  const rows = (lines, scale) => {
    const places = new Map();
    lines.forEach((line, i) => {
      line.xs.forEach((x, k) => {
        if (!places.has(x)) places.set(x, new Array(lines.length).fill(null));
        places.get(x)[i] = line.y[k] === null ? NaN : line.y[k] / scale;
      });
    });
    return [...places.keys()].sort((a, b) => a - b).map((x) => [x, ...places.get(x)]);
  };

  const ticks = (a, b, pixels) => {
    const steps = [40, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 144e5, 288e5];
    const most = Math.max(pixels / 90, 2);
    const step = steps.find((ms) => (b - a) / ms <= most) ?? Math.ceil((b - a) / most / 36e5) * 36e5;
    const decimals = step >= 1000 ? 0 : step >= 100 ? 1 : 2;
    const found = [];
    for (let x = Math.ceil(a / step) * step; x <= b; x += step) found.push({ v: x, label: timeText(x, decimals) });
    return found;
  };

  const { make } = elements;

  // A short line in the color of a curve.
  const keyOf = (curve) => {
    const key = make("span", { className: "swatch" });
    key.style.background = color(`--c${curve.color % 8}`);
    return key;
  };

  const frameOf = (curve, k) => (curve.numbers ? curve.numbers[k] : null);
  const where = (chart, curve, k) => {
    const frame = frameOf(curve, k);
    const words = [frame === null ? "" : `frame ${frame}`, chart.time ? timeText(curve.xs[k], 3) : ""];
    return words.filter(Boolean).join(", ");
  };
  const shown = (own) => own.curves.filter((_, i) => own.graph.visibility()[i]);
  const placeIn = (own, curve, x) => (own.chart.steps ? holding : nearest)(curve.xs, x);

  const say = (own, x) => {
    own.said.textContent = "";
    shown(own).forEach((curve) => {
      const k = placeIn(own, curve, x);
      const text = curve.y[k] === null ? "–" : (curve.y[k] / own.scale).toFixed(own.chart.decimals);
      const number = make("b", { textContent: text });
      own.said.append(make("span", { title: curve.name }, keyOf(curve), number, ` ${where(own.chart, curve, k)}`));
    });
  };

  // Marks x with a line. With `told`, the address gets the place, too.
  const mark = (own, x, told) => {
    own.mark = x;
    own.graph.updateOptions({});
    say(own, x);
    const [curve] = shown(own);
    if (!told || !curve) return;
    const k = placeIn(own, curve, x);
    place.write(own.chart.time ? curve.xs[k] / 1000 : null, frameOf(curve, k));
  };

  const zoomTo = (own, from, to) => {
    const [low, high] = own.graph.xAxisExtremes();
    const width = Math.min(to - from, high - low);
    const begin = Math.min(Math.max(from, low), high - width);
    own.graph.updateOptions({ dateWindow: [begin, begin + width] });
  };
  const zoomBy = (own, factor) => {
    const [from, to] = own.graph.xAxisRange();
    const middle = own.mark ?? (from + to) / 2;
    zoomTo(own, middle - (middle - from) * factor, middle + (to - middle) * factor);
  };

  const KEYS = {
    ArrowLeft: (own, steps) => step(own, -steps),
    ArrowRight: (own, steps) => step(own, steps),
    PageUp: (own) => step(own, -100),
    PageDown: (own) => step(own, 100),
    Home: (own) => step(own, -Infinity),
    End: (own) => step(own, Infinity),
    "+": (own) => zoomBy(own, 1 / 2),
    "-": (own) => zoomBy(own, 2),
    0: (own) => own.graph.resetZoom(),
    Escape: (own) => own.graph.resetZoom(),
    Enter: (own) => own.mark !== null && mark(own, own.mark, true),
  };
  // Goes to another point of the first curve that is shown, and has the window follow.
  const step = (own, steps) => {
    const [curve] = shown(own);
    if (!curve) return;
    const [from, to] = own.graph.xAxisRange();
    const start = nearest(curve.xs, own.mark ?? (steps > 0 ? from : to));
    const wanted = own.mark === null && Number.isFinite(steps) ? start : start + steps;
    const x = curve.xs[Math.min(Math.max(wanted, 0), curve.xs.length - 1)];
    if (x < from || x > to) zoomTo(own, x - (to - from) / 2, x + (to - from) / 2);
    mark(own, x, false);
  };
  const onKey = (own, event) => {
    const act = KEYS[event.key === "=" ? "+" : event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act(own, event.shiftKey ? 10 : 1);
  };

  // Zooms and hides in all charts with the same axis at once.
  const together = (own, change) => {
    if (zooming) return;
    zooming = true;
    drawn.filter((other) => other.chart.time === own.chart.time).forEach(change);
    zooming = false;
  };

  const hideByLegend = (own) => {
    own.figure.querySelectorAll(".legend li").forEach((item, i) => {
      const button = make("button", { type: "button", title: "show or hide this curve" }, ...item.childNodes);
      button.setAttribute("aria-pressed", "true");
      button.dataset.color = own.curves[i].color;
      item.append(button);
      button.addEventListener("click", () => {
        const isShown = button.getAttribute("aria-pressed") !== "true";
        drawn.forEach((other) => show(other, own.curves[i].color, isShown));
      });
    });
  };
  const show = (own, number, isShown) => {
    own.lines.forEach((line, i) => line.color === number && own.graph.setVisibility(i, isShown));
    const buttons = own.figure.querySelectorAll(`.legend [data-color="${number}"]`);
    buttons.forEach((button) => button.setAttribute("aria-pressed", isShown));
    if (own.mark !== null) say(own, own.mark);
  };

  const settings = (own) => ({
    ...colors(),
    labels: ["x", ...own.lines.map((_, i) => String(i))],
    colors: own.lines.map(strokeOf),
    series: Object.fromEntries(own.lines.map(({ color }, i) => [String(i), color < 8 ? {} : { strokePattern: [6, 4] }])),
    connectSeparatedPoints: true,
    stepPlot: own.chart.steps,
    valueRange: own.range,
    strokeWidth: 1.3,
    pointSize: 2.5, // of a score whose neighbors are missing
    highlightCircleSize: 3,
    legend: "never",
    axisLabelFontSize: 12,
    gridLineWidth: 1,
    xRangePad: 0,
    animatedZooms: false,
    axes: {
      x: { ticker: own.chart.time ? ticks : Dygraph.numericTicks, axisLabelWidth: 70 },
      y: { ticker: () => own.chart.ticks, axisLabelWidth: 42 },
    },
    underlayCallback: (canvas, area, self) => {
      canvas.fillStyle = `${color("--warm-line")}40`; // as .wrong in style.css
      for (const stretch of own.chart.wrong) {
        const [from, to] = stretch.map((x) => self.toDomXCoord(x));
        canvas.fillRect(from, area.y, Math.max(to - from, 1), area.h);
      }
      if (own.mark === null) return;
      canvas.fillStyle = color("--ink");
      canvas.fillRect(Math.min(Math.round(self.toDomXCoord(own.mark)), area.x + area.w - 1), area.y, 1, area.h);
    },
    highlightCallback: (_, x) => say(own, x),
    unhighlightCallback: () => (own.mark === null ? (own.said.textContent = own.hint) : say(own, own.mark)),
    clickCallback: (_, x) => mark(own, x, true),
    drawCallback: (self, initial) => {
      if (initial) return;
      const range = self.xAxisRange();
      const whole = !self.isZoomed("x");
      together(own, (other) => {
        if (other !== own) other.graph.updateOptions({ dateWindow: whole ? null : range });
        other.reset.hidden = whole;
      });
    },
  });

  const KEYS_TOLD =
    "arrow keys go from frame to frame, plus and minus zoom, 0 shows the whole length, " +
    "Enter puts the place into the address";
  const hint = () =>
    matchMedia("(pointer: coarse)").matches
      ? "Pinch to zoom, tap for values."
      : "Drag to zoom, double-click to leave, point for values, or use the arrow keys, + and -.";

  const draw = (chart) => {
    const plot = document.getElementById(chart.id);
    const figure = plot.parentElement;
    const summed = (curve) => ({ ...curve, xs: sums(curve.x), numbers: curve.frames ? sums(curve.frames) : null });
    const curves = chart.curves.map(summed);
    const means = curves.filter((curve) => curve.means).map(({ means }) => ({ ...means, xs: sums(means.x) }));
    const margin = 0.03 * (chart.range[1] - chart.range[0]);
    const own = {
      chart,
      figure,
      curves,
      lines: [...curves, ...means],
      scale: 10 ** chart.decimals,
      range: [chart.range[0] - margin, chart.range[1] + margin],
      mark: null,
      hint: drawn.length ? "" : hint(),
      said: make("p", { className: "said" }),
      reset: make("button", { type: "button", textContent: "whole length", hidden: true }),
    };
    const stage = make("div", { className: "stage", tabIndex: 0 });
    stage.setAttribute("role", "application");
    stage.setAttribute("aria-label", `${figure.querySelector("figcaption").textContent}: ${KEYS_TOLD}`);
    own.said.setAttribute("aria-live", "polite");
    own.said.textContent = own.hint;
    plot.before(make("div", { className: "bar" }, own.said, own.reset), stage);
    plot.classList.add("printed"); // a printer gets the picture, which fits its page
    own.graph = new Dygraph(stage, rows(own.lines, own.scale), settings(own));
    own.reset.addEventListener("click", () => own.graph.resetZoom());
    stage.addEventListener("keydown", (event) => onKey(own, event));
    hideByLegend(own);
    drawn.push(own);
  };

  // Shows the place of the address on all curves, and scrolls to those of the section where its link was.
  const go = ({ time, frame }, section) => {
    for (const own of drawn) {
      const [curve] = own.curves;
      const numbers = curve?.numbers;
      if (own.chart.time && time !== null) mark(own, time * 1000, false);
      else if (numbers && frame !== null) mark(own, curve.xs[nearest(numbers, frame)], false);
    }
    const near = drawn.find((own) => section?.contains(own.figure)) ?? drawn[0];
    near?.figure.scrollIntoView({ block: "center" });
  };

  // Its legend, which we do not show, sets a style that the page's policy forbids.
  Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);
  charts.forEach(draw);
  place.watch(go);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    drawn.forEach((own) => own.graph.updateOptions({ ...colors(), colors: own.lines.map(strokeOf) }));
  });
})();
