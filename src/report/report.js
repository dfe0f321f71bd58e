// Draws the charts of a report: each <figure class="chart"> has a Vega-Lite specification. Runs once the page is read.
(function () {
  "use strict";
  const light = {
    ink: "#1c2128", quiet: "#5b6672", line: "#d5dae0",
    colors: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a7f00", "#882255", "#6a3d9a", "#b0b7bf"],
  };
  const dark = {
    ink: "#e4e8ec", quiet: "#9aa5b1", line: "#38414b",
    colors: ["#3f9fe0", "#f07f3c", "#1fc795", "#e0a0c6", "#f0b030", "#8fd3f7", "#ffffff", "#f0e442", "#e07fa8", "#b594e6", "#5c6670"],
  };
  const is_dark = window.matchMedia("(prefers-color-scheme: dark)");
  const figures = Array.from(document.querySelectorAll("figure.chart"));
  const groups = {};  // views whose x axes move together

  function config(theme) {
    const axis = {
      labelColor: theme.quiet, titleColor: theme.ink, gridColor: theme.line, domainColor: theme.quiet, tickColor: theme.quiet,
      labelFontSize: 11, titleFontSize: 12, titleFontWeight: "normal", labelOverlap: true,
    };
    return {
      background: null, font: "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif", axis: axis, view: {stroke: null},
      title: {color: theme.ink, fontSize: 14, anchor: "start", frame: "bounds"},
      legend: {labelColor: theme.ink, titleColor: theme.quiet, labelFontSize: 12, labelLimit: 320, orient: "bottom", symbolOpacity: 1},
      range: {category: theme.colors, symbol: ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "circle", "square"]},
      rule: {color: theme.ink}, text: {color: theme.ink},
    };
  }

  function fitted(figure, spec) {
    const width = figure.clientWidth;
    const names = spec.usermeta.names;
    const longest = Math.max(1, ...names.map((name) => name.length));
    const settings = config(is_dark.matches ? dark : light);
    const inner = width < 700 ? width * 0.6 : width - 40;  // beside the axis
    settings.legend.columns = Math.max(1, Math.floor(inner / (longest * 7.2 + 36)));
    settings.title.fontSize = width < 420 ? 12 : 14;
    settings.axisY = {labelLimit: Math.max(80, width * 0.35)};
    return settings;
  }

  // Lines of words that fit beside the menu of the chart.
  function wrapped(title, width) {
    const most = Math.max(12, Math.floor((width - 50) / 8.6));
    const lines = [""];
    for (const word of title.split(" ")) {
      const last = lines.length - 1;
      if (lines[last] && lines[last].length + word.length >= most) {
        lines.push(word);
      } else {
        lines[last] += (lines[last] ? " " : "") + word;
      }
    }
    return lines;
  }

  function link(figure, view) {
    const name = figure.dataset.link;
    if (!name) {
      return;
    }
    const others = (groups[name] = groups[name] || new Set());
    others.add(view);
    try {
      view.addSignalListener("zoom_x", function (signal, domain) {
        for (const other of others) {
          if (other !== view && JSON.stringify(other.signal("zoom_x")) !== JSON.stringify(domain)) {
            other.signal("zoom_x", domain).runAsync();
          }
        }
      });
    } catch (without_zoom) {
      others.delete(view);
    }
  }

  function draw(figure) {
    const spec = JSON.parse(figure.querySelector("script").textContent);
    spec.title = wrapped(spec.title, figure.clientWidth);
    const options = {
      mode: "vega-lite", renderer: "svg", logLevel: vega.Error, config: fitted(figure, spec),
      actions: {export: true, source: false, compiled: false, editor: false},
    };
    return vegaEmbed(figure.querySelector(".plot"), spec, options).then(function (drawn) {
      link(figure, drawn.view);
      drawn.view.addEventListener("click", (event, item) => show_point(item && item.datum && item.datum.id));
    });
  }

  // The row of a point, wherever it is folded away.
  function show_point(id) {
    const row = id && document.getElementById("p-" + id);
    if (!row) {
      return;
    }
    for (let at = row; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") {
        at.open = true;
      }
    }
    document.querySelectorAll("tr.shown").forEach((one) => one.classList.remove("shown"));
    row.classList.add("shown");
    row.scrollIntoView({block: "center"});
  }

  function draw_all() {
    Object.keys(groups).forEach((name) => delete groups[name]);
    return Promise.all(figures.map(draw)).then(
      () => { document.body.dataset.ready = String(figures.length); },
      (error) => { document.body.dataset.failed = String(error); console.error(error); });
  }

  // Charts over time: dragging zooms all of them, a double click shows everything again.
  const over_time = Array.from(document.querySelectorAll("figure.over-time"));
  const together = window.uPlot && uPlot.sync("time");
  function draw_over_time(figure) {
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const theme = is_dark.matches ? dark : light;
    const axis = {stroke: theme.ink, font: "11px sans-serif", labelFont: "12px sans-serif", labelSize: 18, grid: {stroke: theme.line, width: 1}, ticks: {stroke: theme.line}};
    const place = figure.querySelector(".plot");
    place.textContent = "";
    together.sub(new uPlot({
      title: spec.title, width: figure.clientWidth, height: 240, cursor: {sync: {key: "time", setSeries: true}},
      scales: {x: {time: false}}, axes: [{...axis, label: "simulated time, ns"}, {...axis, size: 64}],
      hooks: {setScale: [zoom_all]},
      series: [{label: "ns"}].concat(spec.names.map((name, i) => ({label: name, stroke: theme.colors[i % theme.colors.length], width: 1.5}))),
    }, spec.data, place));
  }
  let is_zooming = false;
  function zoom_all(from, key) {
    if (key !== "x" || is_zooming || !together) {
      return;
    }
    is_zooming = true;
    for (const plot of together.plots) {
      if (plot !== from) {
        plot.setScale("x", {min: from.scales.x.min, max: from.scales.x.max});
      }
    }
    is_zooming = false;
  }
  function draw_all_over_time() {
    if (together) {
      together.plots.slice().forEach((plot) => { together.unsub(plot); plot.destroy(); });
    }
    over_time.forEach(draw_over_time);
  }

  let width = window.innerWidth;
  let timer = 0;
  window.addEventListener("resize", function () {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => { if (window.innerWidth !== width) { width = window.innerWidth; draw_all(); draw_all_over_time(); } }, 200);
  });
  is_dark.addEventListener("change", () => { draw_all(); draw_all_over_time(); });
  draw_all_over_time();
  draw_all();
})();
