/* Improves pages that are complete without it: draws the charts when they come into view, opens the lineage
   of a cell beside the cell. Loads nothing but two files of this site; reads no number that the page lacks. */
(() => {
  "use strict";

  const here = document.currentScript.src;
  const drawn = new Map();

  if (location.protocol === "file:") {
    // the search index is fetched, which no browser allows on file://
    document.documentElement.classList.add("tm-on-disk");
  }

  /* Charts */

  const load = (source) =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = source;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`cannot load ${source}`));
      document.head.append(script);
    });

  let libraries = null;
  const ready = (charts) => {
    libraries ??= Promise.all([load(new URL("../assets/plotly/plotly-cartesian.min.js", here).href), load(charts)]);
    return libraries;
  };

  const colour = (name) => getComputedStyle(document.body).getPropertyValue(`--tm-${name}`).trim();

  /* Plotly reads a subset of HTML in its labels. */
  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  const axisLook = () => ({
    color: colour("quiet"),
    gridcolor: colour("line"),
    linecolor: colour("line-strong"),
    zerolinecolor: colour("line-strong"),
    automargin: true,
    fixedrange: false,
    ticks: "outside",
    ticklen: 4,
    tickcolor: colour("line-strong"),
  });

  const traceLook = (trace) => {
    const ink = trace.meta.mark === "bars" ? colour("text") : colour(`c${trace.meta.style}`);
    return { "marker.color": ink, "marker.line.color": ink, "line.color": ink };
  };

  const layoutLook = (layout) => {
    const look = {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      "font.color": colour("text"),
      "hoverlabel.bgcolor": colour("page"),
      "hoverlabel.bordercolor": colour("line-strong"),
      "hoverlabel.font.color": colour("text"),
      "modebar.color": colour("line-strong"),
      "modebar.activecolor": colour("text"),
      "modebar.bgcolor": "rgba(0,0,0,0)",
    };
    for (const axis of ["xaxis", "yaxis"]) {
      for (const [key, value] of Object.entries(axisLook())) look[`${axis}.${key}`] = value;
    }
    return look;
  };

  /* Quantiles are drawn as 1/(1-q): each nine takes the same length; the maximum (q = 1) ends the axis. */
  const nines = (axis, high) => {
    const place = (q) => (q === 1 ? 10 ** high : 1 / (1 - q));
    return { ...axis, type: "log", tickvals: axis.tickvals.map(place), range: [0, high + 0.05], place };
  };

  const prepared = (figure) => {
    const layout = structuredClone(figure.layout);
    const { swap, x, high } = layout.meta;
    const traces = structuredClone(figure.data);
    for (const trace of traces) trace.cliponaxis = false;
    if (x === "nines") {
      const { place, ...axis } = nines(layout.xaxis, high);
      layout.xaxis = axis;
      for (const trace of traces) {
        trace.text = trace.x.map((q) => (q === 1 ? "maximum" : `${Number((q * 100).toPrecision(7))} %`));
        trace.x = trace.x.map(place);
        trace.hovertemplate = "%{text}: %{y} ms";
      }
    } else if (x === "category") {
      const { categoryarray, ticktext, title } = layout.xaxis;
      for (const trace of traces) {
        trace.text = trace.x.map((id) => ticktext[categoryarray.indexOf(id)]);
        trace.hovertemplate = `%{text}: %{${swap ? "x" : "y"}}<extra>${trace.name}</extra>`;
        trace.x = trace.x.map((id) => categoryarray.indexOf(id));
      }
      // numbers instead of names: a name on an axis would be read as markup
      layout.xaxis = {
        title, type: "linear", tickmode: "array", ticktext,
        tickvals: ticktext.map((_, index) => index),
        range: swap ? [ticktext.length - 0.5, -0.5] : [-0.5, ticktext.length - 0.5],
        zeroline: false,
      };
    }
    if (swap) {
      [layout.xaxis, layout.yaxis] = [layout.yaxis, layout.xaxis];
      for (const trace of traces) [trace.x, trace.y] = [trace.y, trace.x];
    }
    return { traces, layout };
  };

  const draw = async (plot) => {
    await ready(new URL(plot.closest("[data-charts]").dataset.charts, location.href).href);
    const figure = window.tallymarkCharts.figures.find((one) => one.id === plot.dataset.figure);
    const { traces, layout } = prepared(figure);
    const target = document.createElement("div");
    target.className = "tm-plotly";
    const height = Math.max(plot.querySelector("svg").getBoundingClientRect().height, 210);
    plot.append(target);
    Object.assign(layout, {
      height,
      margin: { l: 8, r: 14, t: 26, b: 8 },
      font: { family: getComputedStyle(document.body).fontFamily, size: 11 },
      legend: {
        // on a line of its own, so that the names stay clear of the buttons
        title: { text: escaped(plot.querySelector("svg .legend")?.textContent ?? ""), side: "top" },
        orientation: "h", x: 0, y: 1.02, yanchor: "bottom", bgcolor: "rgba(0,0,0,0)",
      },
      hovermode: "closest",
    });
    for (const axis of ["xaxis", "yaxis"]) layout[axis].title.standoff = 8;
    await window.Plotly.newPlot(target, traces, layout, {
      displaylogo: false,
      // without these, a button offers to upload the chart to the maker of the library
      showSendToCloud: false,
      plotlyServerURL: "",
      responsive: true,
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
    });
    drawn.set(target, traces);
    plot.classList.add("tm-drawn");
    await recolour(target, traces);
  };

  const recolour = (target, traces) => {
    const looks = traces.map(traceLook);
    const update = {};
    for (const key of Object.keys(looks[0] ?? {})) update[key] = looks.map((look) => look[key]);
    update["marker.line.width"] = traces.map((trace) => (trace.meta.mark === "line" ? 0 : 1.8));
    return window.Plotly.update(target, update, layoutLook());
  };

  const watch = () => {
    const plots = document.querySelectorAll("[data-charts] .tm-plot[data-figure]");
    if (!plots.length || !("IntersectionObserver" in window)) return;
    const observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (!entry.isIntersecting) continue;
          observer.unobserve(entry.target);
          // when a file is missing, the static picture simply stays
          draw(entry.target).catch((problem) => console.warn(`tallymark: ${problem.message}`));
        }
      },
      { rootMargin: "300px" },
    );
    for (const plot of plots) observer.observe(plot);
    new MutationObserver(() => {
      for (const [target, traces] of drawn) recolour(target, traces);
    }).observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
  };

  /* Lineage beside the cell */

  let card = null;
  let opener = null;

  const close = () => {
    card?.remove();
    card = null;
    opener?.focus({ preventScroll: true });
    opener = null;
  };

  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  const pair = (term, ...content) => [element("dt", {}, term), element("dd", {}, ...content)];

  const copies = (node) => [...node.childNodes].map((child) => child.cloneNode(true));

  const lineage = (row, anchor) => {
    const [shown, exact, count, samples, command] = row.querySelectorAll(":scope > td");
    const note = document.getElementById(`note-${anchor.replace(/^c\d+-/, "")}`);
    const shared = row.closest("details").querySelector(".tm-sources");
    const own = command.querySelector(".tm-sources");
    const code = command.querySelector("code");
    const list = element("dl", {},
      ...pair("exact", element("span", { className: "exact" }, ...copies(exact))),
      ...pair("runs (n)", ...copies(count)),
      ...(samples.textContent ? pair("samples", ...copies(samples)) : []),
      ...(note ? pair("rule", ...copies(note).slice(1)) : []),
      ...pair("from", (own ?? shared).cloneNode(true)),
      ...(code ? pair("with jq", element("code", { className: "jq" }, code.textContent)) : pair("why", ...copies(command))),
    );
    return [
      element("h4", {}, ...copies(row.querySelector("th")), ": ", ...copies(shown)),
      list,
      element("a", { href: `#${anchor}` }, "all cells of this row"),
      element("button", { type: "button", className: "close", onclick: close, ariaLabel: "Close" }, "×"),
    ];
  };

  const open = (link) => {
    const anchor = link.hash.slice(1);
    const row = document.getElementById(anchor);
    if (!row) return false;
    close();
    opener = link;
    card = element("div", { className: "tm-card", role: "dialog", tabIndex: -1 }, ...lineage(row, anchor));
    card.setAttribute("aria-label", "Lineage of the cell");
    document.body.append(card);
    const box = link.getBoundingClientRect();
    const left = Math.min(box.left, document.documentElement.clientWidth - card.offsetWidth - 16);
    card.style.left = `${Math.max(left, 8) + scrollX}px`;
    card.style.top = `${box.bottom + 6 + scrollY}px`;
    card.querySelector('a[href^="#c"]').addEventListener("click", () => { opener = null; close(); });
    card.focus({ preventScroll: true });
    return true;
  };

  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    let fold = target && target.closest("details");
    if (!fold) return;
    for (; fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView({ block: "center" });
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest('table[data-report] td > a[href^="#"]');
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      if (open(link)) event.preventDefault();
    } else if (card && !event.target.closest(".tm-card")) {
      opener = null;
      close();
    }
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && card) close(); });
  addEventListener("hashchange", reveal);
  reveal();
  watch();
})();
