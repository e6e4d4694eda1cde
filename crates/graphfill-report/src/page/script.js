// Draws plots on demand, sorts and filters tables, copies data as CSV.
// `card` makes the same text as draw.rs and card.rs.
const report = (() => {
  "use strict";
  document.documentElement.classList.add("scripted");
  const data = JSON.parse(document.getElementById("data").textContent);
  const escape = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c])
    .replace(/[\t\n\r]/g, " ").replace(/[\0-\x1f\x7f-\x9f\ufffe\uffff]/g, "\ufffd");
  const r = (value) => Math.round(value * 10) / 10;
  const path = (kind, line) => (line ? `<path class="${kind}" d="${line}"></path>` : "");
  const known = (value) => typeof value === "number";

  function svg(p) {
    const [width, height] = p.f, [top, marginRight, marginBottom, left] = p.m;
    const bottom = height - marginBottom, right = width - marginRight;
    const place = (axis, value) => Math.min(1, Math.max(0, ((axis.g ? Math.log10(Math.max(value, 2.2250738585072014e-308)) : value) - axis.a) / (axis.b - axis.a)));
    const xAt = (at) => r(left + at * (right - left)), yAt = (at) => r(bottom - at * (bottom - top));
    const x = (value) => xAt(place(p.x, value)), y = (value) => yAt(place(p.y, value));
    const band = (row) => y(row + 0.5);
    const each = (draw, columns) => p.r.map((row, i) => (columns.every((c) => known(row[c])) ? draw(row, i) : "")).join("");
    const marks = {
      cells() {
        const bars = ["", ""], dots = ["", ""];
        for (const [observed, estimate, low, high] of p.r) {
          if (!known(observed) || !known(estimate)) continue;
          const at = x(observed), up = y(estimate);
          const missed = +((known(low) && observed < low) || (known(high) && observed > high));
          if (known(low) || known(high)) bars[missed] += `M${at} ${known(low) ? y(low) : yAt(0)}V${known(high) ? y(high) : yAt(1)}`;
          dots[missed] += missed ? `M${r(at - 3)} ${r(up - 3)}L${r(at + 3)} ${r(up + 3)}M${r(at - 3)} ${r(up + 3)}L${r(at + 3)} ${r(up - 3)}` : `M${at} ${up}h0`;
        }
        return path("iv", bars[0]) + path("iv io", bars[1]) + path("dt", dots[0]) + path("cr", dots[1]);
      },
      dots: (kind, a, b) => path(kind, each((row) => `M${x(row[a])} ${y(row[b])}h0`, [a, b])),
      line: (kind, points) => path(kind, points.filter((point) => point.every(known)).map(([a, b], i) => `${i ? "L" : "M"}${x(a)} ${y(b)}`).join("")),
      steps(kind, c, scale) {
        let line = "";
        for (const row of p.r) {
          if (![0, 1, c].every((i) => known(row[i]))) continue;
          line += `${line ? "" : `M${x(row[0])} ${yAt(0)}`}V${y(row[c] * scale)}H${x(row[1])}`;
        }
        return path(kind, line && `${line}V${yAt(0)}`);
      },
      bars(kind, c, slot, slots) {
        const size = ((bottom - top) / Math.max(1, p.y.n || 0)) * 0.68, zero = x(0);
        return path(kind, each((row, i) => {
          const up = r(band(i) - size / 2 + (size * slot) / slots);
          return `M${zero} ${up}H${x(row[c])}V${r(up + size / slots - (slots > 1 ? 1 : 0))}H${zero}z`;
        }, [c]));
      },
      ranges: (kind, c, low, high) =>
        (known(low) ? path("rg", each((row, i) => `M${x(row[low])} ${band(i)}H${x(row[high])}`, [low, high])) : "") +
        path(kind, each((row, i) => `M${x(row[c])} ${band(i)}h0`, [c])),
      matrix() {
        const size = p.x.n;
        return p.r.map((row, i) => {
          if (!known(row[2])) return "";
          const level = Math.floor(i / size), column = i % size;
          const total = p.r.slice(level * size, (level + 1) * size).reduce((sum, other) => sum + (other[2] || 0), 0);
          const shade = Math.round((total ? row[2] / total : 0) * 100) / 100;
          const [l, q, t, b] = [x(column), x(column + 1), y(level), y(level + 1)];
          return `<rect class="mx" x="${l}" y="${t}" width="${r(q - l - 1)}" height="${r(b - t - 1)}" fill-opacity="${shade}"></rect>` +
            (size <= 8 ? `<text class="mt${shade > 0.5 ? " on" : ""}" x="${r((l + q) / 2)}" y="${r((t + b) / 2 + 3.8)}">${row[2]}</text>` : "");
        }).join("");
      },
    };
    let grid = "", labels = "";
    for (const [at, label] of p.x.t) {
      const tick = xAt(at);
      if (!p.x.n) grid += `M${tick} ${top}V${bottom}`;
      labels += p.o ? `<text class="sl" transform="translate(${tick} ${bottom + 12})rotate(-45)">${escape(label)}</text>`
        : `<text class="tx" x="${tick}" y="${bottom + 15}">${escape(label)}</text>`;
    }
    for (const [at, label] of p.y.t) {
      if (!p.y.n) grid += `M${left} ${yAt(at)}H${right}`;
      labels += `<text class="ty" x="${left - 6}" y="${r(yAt(at) + 3.8)}">${escape(label)}</text>`;
    }
    return `<svg viewBox="0 0 ${width} ${height}" role="img"><title>${escape(p.t)}</title><desc>${escape(p.d)}</desc>` +
      `<path class="gr" d="${grid}"></path><path class="fr" d="M${left} ${top}V${bottom}H${right}"></path>${labels}` +
      (p.x.l && `<text class="lx" x="${r((left + right) / 2)}" y="${height - 6}">${escape(p.x.l)}</text>`) +
      (p.y.l && `<text class="lx" transform="translate(11 ${r((top + bottom) / 2)})rotate(-90)">${escape(p.y.l)}</text>`) +
      p.k.map(([kind, ...rest]) => marks[kind](...rest)).join("") + "</svg>";
  }

  function card(id) {
    const p = data.plots[id], title = escape(p.t);
    return `<figure class="card" data-plot="${escape(id)}"><figcaption><h3>${title}</h3><p>${escape(p.s)}</p></figcaption>${svg(p)}` +
      `<button type="button" class="csv js" aria-label="Copy as CSV: ${title}">Copy as CSV</button></figure>`;
  }

  // CSV
  const field = (value) => (/[",\n\r]/.test(value) ? `"${value.replace(/"/g, '""')}"` : value);
  const line = (values) => values.map((value) => field(String(value ?? ""))).join(",");
  const day = (value) => {
    const date = new Date(Math.floor(value) * 864e5);
    return known(value) && Math.abs(date.getTime()) < 6e13 ? date.toISOString().slice(0, 10) : value;
  };
  const csv = (p) => [p.h, ...p.r.map((row) => row.map((value, i) => ((p.e || []).includes(i) ? day(value) : value)))].map(line).join("\n") + "\n";
  const tableCsv = (table) => [...table.rows].filter((row) => !row.hidden)
    .map((row) => line([...row.cells].map((cell) => cell.dataset.v ?? cell.innerText.replace(/[\u25b4\u25be\u2195]/g, "").trim()))).join("\n") + "\n";

  function showText(text) {
    const dialog = document.createElement("dialog");
    dialog.innerHTML = '<form method="dialog"><label>Copy this text:<textarea readonly rows="12"></textarea></label><button>Close</button></form>';
    document.body.append(dialog);
    dialog.querySelector("textarea").value = text;
    dialog.addEventListener("close", () => dialog.remove());
    dialog.showModal();
    dialog.querySelector("textarea").select();
  }
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      area.style.cssText = "position:fixed;opacity:0";
      document.body.append(area);
      area.select();
      let done = false;
      try { done = document.execCommand("copy"); } catch { done = false; }
      area.remove();
      if (!done) showText(text);
      return done;
    }
  }
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.csv");
    if (!button) return;
    const figure = button.closest("[data-plot]");
    const text = figure ? csv(data.plots[figure.dataset.plot]) : tableCsv(button.closest(".table").querySelector("table"));
    report.copied = text;
    if (await copy(text)) {
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy as CSV"; }, 1500);
    }
    button.focus();
  });

  // Plots on demand
  for (const [name, rest] of Object.entries(data.grids)) {
    const grid = document.getElementById(`g-${name}`), status = document.getElementById(`s-${name}`);
    const list = document.getElementById(`l-${name}`), input = document.querySelector(`[data-grid="${name}"]`);
    const title = (id) => data.plots[id].t;
    list.innerHTML = rest.map((id) => `<option value="${escape(title(id))}">`).join("");
    const drawn = new Set();
    const draw = (ids) => {
      const fresh = ids.filter((id) => !drawn.has(id));
      fresh.forEach((id) => drawn.add(id));
      grid.insertAdjacentHTML("afterbegin", fresh.map(card).join(""));
      status.textContent = fresh.length === 1 ? `${title(fresh[0])} is drawn first.` : `${fresh.length} plots are drawn first.`;
    };
    const pick = (exact) => {
      const text = input.value.trim().toLowerCase();
      if (!text) return;
      const same = rest.filter((id) => title(id).trim().toLowerCase() === text);
      const like = exact ? same : rest.filter((id) => title(id).toLowerCase().includes(text)).slice(0, 24);
      const found = same.length ? same : like;
      if (found.length) { draw(found); input.value = ""; } else if (!exact) status.textContent = "No such column among those not drawn.";
    };
    input.addEventListener("input", (event) => { if (event.inputType === "insertReplacementText" || !event.inputType) pick(true); });
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") pick(false); });
    document.querySelector(`[data-all="${name}"]`).addEventListener("click", () => draw(rest));
  }

  // Tables
  for (const box of document.querySelectorAll(".table")) {
    const table = box.querySelector("table"), body = table.tBodies[0], original = [...body.rows];
    const headers = [...table.tHead.rows[0].cells];
    const key = (row, i) => { const v = row.cells[i]?.dataset.v; return v === undefined ? NaN : v.endsWith("inf") ? (v[0] === "-" ? -Infinity : Infinity) : +v; };
    headers.forEach((header, i) => {
      header.innerHTML = `<button type="button">${header.innerHTML}</button>`;
      header.setAttribute("aria-sort", "none");
      header.firstChild.addEventListener("click", () => {
        const sort = { none: "ascending", ascending: "descending", descending: "none" }[header.getAttribute("aria-sort")];
        headers.forEach((other) => other.setAttribute("aria-sort", "none"));
        header.setAttribute("aria-sort", sort);
        const sign = sort === "descending" ? -1 : 1, numeric = original.some((row) => row.cells[i]?.dataset.v !== undefined);
        const compare = numeric
          ? (a, b) => { const [u, v] = [key(a, i), key(b, i)]; return Number.isNaN(u) || Number.isNaN(v) ? Number.isNaN(u) - Number.isNaN(v) : sign * (u < v ? -1 : +(u > v)); }
          : (a, b) => sign * a.cells[i].textContent.localeCompare(b.cells[i].textContent, undefined, { numeric: true });
        body.append(...(sort === "none" ? original : [...original].sort(compare)));
      });
    });
    const filter = box.querySelector(".filter"), shown = box.querySelector(".shown");
    filter?.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const row of original) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        count += !row.hidden;
      }
      shown.textContent = words.length ? `${count} of ${original.length} rows` : "";
    });
  }

  // Tables that fit on a few sheets are open on paper.
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((details) => { details.open ||= details.querySelectorAll("tr").length <= 100; }));
  return { card, csv, data };
})();
