// Uses the page as a reader would, and writes what happened to the end of the page, as JSON.
(async () => {
  const found = {};
  const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const input = (box, text) => {
    box.value = text;
    box.dispatchEvent(new InputEvent("input", { inputType: "insertText", bubbles: true }));
  };
  try {
    found["too wide"] = document.documentElement.scrollWidth > innerWidth;
    // Plots drawn by Rust and by the script.
    const figures = [...document.querySelectorAll("figure[data-plot]")];
    const drawable = figures.filter((figure) => report.data.plots[figure.dataset.plot].k);
    found.compared = drawable.length;
    found.differences = drawable.flatMap((figure) => {
      const box = document.createElement("div");
      box.innerHTML = report.card(figure.dataset.plot);
      return box.innerHTML === figure.outerHTML ? [] : [figure.outerHTML, box.innerHTML];
    }).slice(0, 2);
    // Tables
    const table = document.querySelector("#methods table") ?? document.querySelector("table");
    if (table) {
      const headers = [...table.tHead.rows[0].cells];
      const at = Math.max(1, headers.findIndex((header) => header.textContent.startsWith("Missing")));
      const button = headers[at].querySelector("button");
      const values = () => [...table.tBodies[0].rows].map((row) => +row.cells[at].dataset.v);
      const original = JSON.stringify(values());
      const rising = (list) => list.every((value, i) => i === 0 || list[i - 1] <= value);
      found["aria-sort"] = [];
      found.sorted = [];
      for (const right of [() => rising(values()), () => rising(values().reverse()), () => JSON.stringify(values()) === original]) {
        button.click();
        found.sorted.push(right());
        found["aria-sort"].push(headers[at].getAttribute("aria-sort"));
      }
      button.focus();
      found.focus = document.activeElement === button;
      const box = table.closest(".table"), filter = box.querySelector(".filter");
      if (filter) {
        input(filter, "median  INCOME".replace(/ +/, "_"));
        found.filtered = [...table.tBodies[0].rows].filter((row) => row.offsetParent).map((row) => row.cells[0].textContent);
        found["filter status"] = box.querySelector(".shown").textContent;
        input(filter, "");
      }
      box.querySelector(".csv").click();
      found["table csv"] = report.copied;
    }
    // Data
    const copy = (plot) => {
      document.querySelector(`[data-plot="${plot}"] .csv`).click();
      return report.copied;
    };
    const numeric = (date) => drawable.find((figure) => {
      const plot = report.data.plots[figure.dataset.plot];
      return plot.k.some(([kind]) => kind === "cells") && !!plot.e === date;
    });
    if (numeric(false)) found["plot csv"] = copy(numeric(false).dataset.plot);
    if (numeric(true)) found["date csv"] = copy(numeric(true).dataset.plot);
    // Plots on demand
    const grid = document.getElementById("g-o");
    if (grid) {
      const box = document.querySelector('[data-grid="o"]'), status = document.getElementById("s-o");
      const count = () => grid.querySelectorAll("figure svg").length;
      const enter = () => box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
      found.drawn = [count()];
      input(box, "no such column at all");
      enter();
      found["no such column"] = status.textContent;
      found.picked = report.data.plots[report.data.grids.o[3]].t;
      input(box, found.picked);
      enter();
      found.drawn.push(count());
      found["drawn title"] = grid.querySelector("h3").textContent;
      document.querySelector('[data-all="o"]').click();
      found.drawn.push(count());
    }
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
    found["too wide"] ||= document.documentElement.scrollWidth > innerWidth;
    // Text within its drawing; fonts differ a little.
    found["cut off"] = [...document.querySelectorAll("figure svg")].flatMap((svg) => {
      const outer = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].filter((text) => {
        const inner = text.getBoundingClientRect();
        return inner.left < outer.left - 4 || inner.right > outer.right + 4 || inner.top < outer.top - 4 || inner.bottom > outer.bottom + 4;
      }).map((text) => text.textContent);
    }).slice(0, 5);
    // Labels beside each other below a plot.
    found.overlapping = [...document.querySelectorAll("figure svg")].flatMap((svg) => {
      const boxes = [...svg.querySelectorAll(".tx")].map((text) => [text.getBoundingClientRect(), text.textContent]);
      return boxes.slice(1).filter(([box], i) => boxes[i][0].right > box.left).map(([, text]) => text);
    }).slice(0, 5);
    found.unnamed = [...document.querySelectorAll("button, input, svg[role]")].filter((element) =>
      !(element.textContent.trim() || element.getAttribute("aria-label") || element.closest("label"))).map((element) => element.outerHTML);
    await wait(200);
    found.resources = performance.getEntriesByType("resource").map((entry) => entry.name);
  } catch (error) {
    problems.push(`harness: ${error.stack}`);
  }
  found.problems = problems;
  const results = document.createElement("pre");
  results.id = "results";
  results.textContent = JSON.stringify(found);
  document.body.append(results);
})();
