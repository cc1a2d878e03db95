"use strict";
(() => {
  const views = new Map();
  const shownOf = (figure) =>
    [...figure.querySelectorAll(".keys button")].filter((b) => b.getAttribute("aria-pressed") === "true").map((b) => b.dataset.series);

  function makeButtons(figure, view) {
    for (const item of figure.querySelectorAll(".keys li")) {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.series = item.dataset.series;
      button.setAttribute("aria-pressed", "true");
      button.append(...item.childNodes);
      item.append(button);
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") === "true" ? "false" : "true");
        view.signal("shown", shownOf(figure)).runAsync();
      });
    }
  }

  // The selection keeps the part shown of each axis in a signal named after itself and the field.
  function zoom(fields, view, factor) {
    for (const axis of ["x", "y"]) {
      const [low, high] = view.scale(axis).domain();
      const middle = (low + high) / 2;
      const half = ((high - low) / 2) * factor;
      view.signal("zoom_" + fields[axis], factor === 0 ? null : [middle - half, middle + half]);
    }
    view.runAsync();
  }

  async function draw(figure) {
    const spec = CHARTS[figure.id];
    // The chart takes the width of its place, so the place must be there first.
    figure.classList.add("scripted");
    let view;
    try {
      ({ view } = await vegaEmbed(figure.querySelector(".live"), spec, {
        actions: false,
        renderer: "svg",
        tooltip: { theme: "custom", disableDefaultStyle: true },
      }));
    } catch (error) {
      figure.classList.remove("scripted");
      throw error;
    }
    views.set(figure.id, view);
    makeButtons(figure, view);
    for (const button of figure.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => zoom(spec.usermeta.zoom, view, Number(button.dataset.zoom)));
    }
  }

  // What a link leads to is opened, so that it can be seen.
  function openTarget() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  }

  addEventListener("hashchange", openTarget);
  openTarget();
  const figures = [...document.querySelectorAll("figure.chart")];
  window.chartsDrawn = Promise.all(figures.map(draw));
  window.chartViews = views;
})();
