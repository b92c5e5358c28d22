// Draws the curves with dygraphs in place of the pictures: zoom, and the values under the pointer.
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

  const draw = (chart) => {
    const plot = document.getElementById(chart.id);
    const figure = plot.parentElement;
    const curves = chart.curves.map((curve) => ({ ...curve, xs: sums(curve.x), numbers: curve.frames ? sums(curve.frames) : null }));
    const means = curves.filter((curve) => curve.means).map(({ means }) => ({ ...means, xs: sums(means.x) }));
    const lines = [...curves, ...means];
    const scale = 10 ** chart.decimals;
    const margin = 0.03 * (chart.range[1] - chart.range[0]);
    const stage = document.createElement("div");
    stage.className = "stage";
    const bar = document.createElement("div");
    bar.className = "bar";
    const said = document.createElement("p");
    said.className = "said";
    const reset = document.createElement("button");
    reset.type = "button";
    reset.textContent = "whole length";
    reset.hidden = true;
    bar.append(said, reset);
    plot.before(bar);
    plot.replaceWith(stage);
    const hint = drawn.length ? "" : matchMedia("(pointer: coarse)").matches ? "Pinch to zoom, tap for values." : "Drag to zoom, double-click to leave, point for values.";
    said.textContent = hint;

    const stroke = () => lines.map(strokeOf);
    const say = (x) => {
      said.textContent = "";
      curves.forEach((curve) => {
        const k = (chart.steps ? holding : nearest)(curve.xs, x);
        const value = document.createElement("span");
        const number = document.createElement("b");
        number.textContent = curve.y[k] === null ? "–" : (curve.y[k] / scale).toFixed(chart.decimals);
        number.style.color = color(`--c${curve.color % 8}`);
        const where = curve.numbers ? `frame ${curve.numbers[k]}` : "";
        const when = chart.time ? timeText(curve.xs[k], 3) : "";
        value.append(number, ` ${[where, when].filter(Boolean).join(", ")}`);
        value.title = curve.name;
        said.append(value);
      });
    };
    const graph = new Dygraph(stage, rows(lines, scale), {
      ...colors(),
      labels: ["x", ...lines.map((_, i) => String(i))],
      colors: stroke(),
      series: Object.fromEntries(lines.map((line, i) => [String(i), line.color < 8 ? {} : { strokePattern: [6, 4] }])),
      connectSeparatedPoints: true,
      stepPlot: chart.steps,
      valueRange: [chart.range[0] - margin, chart.range[1] + margin],
      strokeWidth: 1.3,
      highlightCircleSize: 3,
      legend: "never",
      axisLabelFontSize: 12,
      gridLineWidth: 1,
      xRangePad: 0,
      animatedZooms: false,
      axes: {
        x: { ticker: chart.time ? ticks : Dygraph.numericTicks, axisLabelWidth: 70 },
        y: { ticker: () => chart.ticks, axisLabelWidth: 42 },
      },
      underlayCallback: (canvas, area, self) => {
        canvas.fillStyle = `${color("--warm-line")}40`; // as .wrong in style.css
        for (const stretch of chart.wrong) {
          const [from, to] = stretch.map((x) => self.toDomXCoord(x));
          canvas.fillRect(from, area.y, Math.max(to - from, 1), area.h);
        }
      },
      highlightCallback: (_, x) => say(x),
      unhighlightCallback: () => (said.textContent = hint),
      drawCallback: (self, initial) => {
        if (initial || zooming) return;
        zooming = true;
        const range = self.xAxisRange();
        const whole = !self.isZoomed("x");
        drawn.filter((other) => other.chart.time === chart.time).forEach((other) => {
          if (other.graph !== self) other.graph.updateOptions({ dateWindow: whole ? null : range });
          other.reset.hidden = whole;
        });
        zooming = false;
      },
    });
    reset.addEventListener("click", () => graph.resetZoom());
    drawn.push({ chart, graph, reset, stroke });
    figure.setAttribute("aria-label", figure.querySelector("figcaption").textContent);
  };

  // Its legend, which we do not show, sets a style that the page's policy forbids.
  Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);
  charts.forEach(draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    drawn.forEach(({ graph, stroke }) => graph.updateOptions({ ...colors(), colors: stroke() }));
  });
})();
