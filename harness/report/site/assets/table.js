// The table of tests: filtered, sorted and paged in the browser. The page contains the first rows,
// which stay until a filter or an order is asked for. Only one page of rows is in the document at a
// time, so that ten thousand tests cost no more than two hundred. What is asked for is kept in the
// address, after the #.
"use strict";
(() => {
  const data = window.weakspot;
  const section = document.getElementById("tests");
  if (!data || !section) return;

  const WORDS = { N: "Never", S: "Sometimes", A: "Always", U: "Undefined", "?": "Unknown", "!": "disagree", "-": "" };
  const LETTER = Object.fromEntries(Object.entries(WORDS).map(([letter, word]) => [word, letter]));
  const [NAME, FILE, SHAPE, STRUCTURES, WHERE, SCENARIOS, ANSWERS, SEEN, MARKS] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const form = section.querySelector(".filters");
  const status = section.querySelector(".found");
  const head = section.querySelector("thead tr");
  const body = section.querySelector("tbody");
  const pager = section.querySelector(".pager");
  const rows = data.tests;
  const given = [...body.children]; // the rows that the page contains, in the order of the data

  const haystack = rows.map((row) => [row[NAME], data.shapes[row[SHAPE]], data.wheres[row[WHERE]],
    data.scenarios[row[SCENARIOS]], row[STRUCTURES].map((at) => data.structures[at]).join(" ")].join("\n").toLowerCase());

  const number = (count) => count.toLocaleString("en");
  const rounded = (count) => {
    if (count < 10000) return number(count);
    let power = String(count).length - 1;
    let first = (count / 10 ** power).toFixed(1).replace(/\.0$/, "");
    if (first === "10") { first = "1"; power += 1; }
    const exponent = [...String(power)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");
    return first === "1" ? `10${exponent}` : `${first}·10${exponent}`;
  };
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  // the runs of a test, without those that the filters exclude: [run, target, iterations]
  const seen = (row, chosen) => {
    const found = [];
    for (let at = 0; at < row[SEEN].length; at += 3)
      if (!chosen || chosen.has(row[SEEN][at])) found.push(row[SEEN].slice(at, at + 3));
    return found;
  };

  const line = (row, chosen) => {
    const made = element("tr", "", row[MARKS].includes("f") ? "contradicting" : "");
    const name = element("td", "", "name");
    const link = element("a", row[NAME]);
    link.href = section.dataset.root + "report/tests/" + encodeURIComponent(row[FILE] || row[NAME] + ".html");
    name.append(link, element("div", data.wheres[row[WHERE]], "where"));
    made.append(name);
    if (data.runs.length) {
      const cell = element("td", "", "seen");
      const several = data.runs.length > 1;
      const ran = seen(row, chosen);
      for (const [run, target, iterations] of ran)
        if (target) cell.append(element("div", `${several ? data.labels[run] + " " : ""}${number(target)} of ${rounded(iterations)}`));
      if (asks.forbidden(ran, row)) cell.append(element("div", "✕ forbidden", "sign wrong"));
      for (const [what, did] of [["not observed", true], ["not run", false]]) {
        const others = ran.filter(([, target, iterations]) => !target && !!iterations === did);
        if (!others.length) continue;
        const total = others.reduce((sum, [, , iterations]) => sum + iterations, 0);
        const of = total ? ` in ${rounded(total)}` : "";
        const names = others.length > 2 ? `${others.length} runs` : others.map(([run]) => data.labels[run]).join(", ");
        cell.append(element("div", what + of + (others.length === ran.length ? "" : `: ${names}`), "none"));
      }
      made.append(cell);
    }
    for (const letter of data.answers[row[ANSWERS]]) {
      const word = WORDS[letter];
      const cell = element("td");
      cell.append(element("span", word, "answer " + (word === "disagree" ? "undefined" : word.toLowerCase())));
      made.append(cell);
    }
    return made;
  };

  let order = rows.map((_, at) => at);
  let found = order;
  let first = 0;
  let sorted = ""; // the column, with a minus if it is descending

  const chosenRuns = (asked) => {
    if (!asked.machine && !asked.runner) return null;
    return new Set(data.runs.flatMap(([machine, runner], at) =>
      (!asked.machine || machine === asked.machine) && (!asked.runner || runner === asked.runner) ? [at] : []));
  };
  const asks = {
    ran: (those) => those.some(([, , ran]) => ran),
    yes: (those) => those.some(([, target]) => target),
    no: (those) => asks.ran(those) && !those.some(([, target]) => target),
    "not-run": (those) => !asks.ran(those),
    forbidden: (those, row) => row[MARKS].includes("f") && those.some(([, target]) => target),
  };

  const asked = () => Object.fromEntries([...new FormData(form)].filter(([, value]) => value));

  const apply = () => {
    const wanted = asked();
    const words = (wanted.q || "").toLowerCase().split(/\s+/).filter(Boolean);
    const shape = wanted.shape === undefined ? -1 : data.shapes.indexOf(wanted.shape);
    const structure = wanted.structure === undefined ? -1 : data.structures.indexOf(wanted.structure);
    const model = wanted.model === undefined ? -1 : data.models.indexOf(wanted.model);
    const letter = wanted.answer && LETTER[wanted.answer];
    const runs = chosenRuns(wanted);
    const test = asks[wanted.seen];
    const fits = data.answers.map((letters) => {
      if (model >= 0) return letter ? letters[model] === letter : letters[model] !== "-";
      return !letter || letters.includes(letter);
    });
    found = order.filter((at) => {
      const row = rows[at];
      if (!fits[row[ANSWERS]] || (shape >= 0 && row[SHAPE] !== shape)) return false;
      if (structure >= 0 && !row[STRUCTURES].includes(structure)) return false;
      if (wanted.mark && !row[MARKS].includes(wanted.mark)) return false;
      if (test || runs) {
        const those = seen(row, runs);
        if (!(test || asks.ran)(those, row)) return false;
      }
      return words.every((word) => haystack[at].includes(word));
    });
    first = 0;
    show(runs);
  };

  const show = (runs = chosenRuns(asked())) => {
    const last = Math.min(first + data.page, found.length);
    const fragment = document.createDocumentFragment();
    for (let at = first; at < last; at++)
      fragment.append((!runs && given[found[at]]) || line(rows[found[at]], runs));
    body.replaceChildren(fragment);
    const [back, forth] = pager.querySelectorAll("button");
    back.disabled = first === 0;
    forth.disabled = last === found.length;
    pager.hidden = found.length <= data.page;
    pager.querySelector("span").textContent = found.length ? `${number(first + 1)} to ${number(last)}` : "";
    const of = found.length === rows.length ? "" : ` of ${number(rows.length)}`;
    status.textContent = `${number(found.length)}${of} test${rows.length === 1 ? "" : "s"}`;
  };

  // --- sorting ---
  const rate = (row, runs) => {
    const those = seen(row, runs).map(([, target, ran]) => (ran ? target / ran : -1));
    return those.length ? Math.max(...those) : -2;
  };
  const sort = (name, down) => {
    const runs = chosenRuns(asked());
    const column = name.startsWith("model:") ? Number(name.slice(6)) : -1;
    const keys = rows.map((row) => (name === "observed" ? rate(row, runs)
      : column >= 0 ? "ASU?!N-".indexOf(data.answers[row[ANSWERS]][column]) : row[NAME]));
    order = rows.map((_, at) => at);
    order.sort((a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0) * (down ? -1 : 1) || a - b);
    sorted = (down ? "-" : "") + name;
    for (const cell of head.children) {
      if (cell.dataset.sort === name) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
  };

  for (const cell of head.children) {
    const button = element("button", cell.textContent, "sort");
    button.type = "button";
    cell.replaceChildren(button);
    button.addEventListener("click", () => {
      const name = cell.dataset.sort;
      sort(name, sorted === name || (sorted !== "-" + name && name === "observed"));
      apply();
      remember();
    });
  }

  // --- the address ---
  const remember = () => {
    const parts = Object.entries(asked());
    if (sorted) parts.push(["sort", sorted]);
    const text = parts.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
  };
  const restore = () => {
    const parts = location.hash.slice(1).split("&").map((part) => part.split("="))
      .filter(([name]) => name === "sort" || form.elements.namedItem(name));
    if (!parts.length && location.hash) return false; // the name of a place on the page
    form.reset();
    let column = "";
    for (const [name, value = ""] of parts) {
      let text = value;
      try { text = decodeURIComponent(value); } catch { /* a % that encodes nothing */ }
      if (name === "sort") column = text;
      else form.elements.namedItem(name).value = text;
    }
    for (const select of form.querySelectorAll("select"))
      if (select.selectedIndex < 0) select.selectedIndex = 0; // what no test has
    const name = column.replace(/^-/, "");
    if ([...head.children].some((cell) => cell.dataset.sort === name)) sort(name, column !== name);
    apply();
    return true;
  };

  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting); // of the keys that were pressed meanwhile, the last one counts
    waiting = setTimeout(() => { apply(); remember(); });
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { apply(); remember(); }));
  pager.addEventListener("click", ({ target }) => {
    if (!target.dataset.step) return;
    first += data.page * Number(target.dataset.step);
    show();
    section.scrollIntoView();
  });

  // --- keys ---
  document.addEventListener("keydown", (event) => {
    const search = form.elements.namedItem("q");
    const at = document.activeElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && !at.matches("input, select")) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && at === search) {
      search.value = "";
      apply();
      remember();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (at === search || body.contains(at))) {
      const row = at.closest("tbody tr");
      const next = !row ? (event.key === "ArrowDown" ? body.firstElementChild : null)
        : event.key === "ArrowDown" ? row.nextElementSibling : row.previousElementSibling;
      if (next) next.querySelector("a").focus();
      else if (event.key === "ArrowUp") search.focus();
      if (next || event.key === "ArrowUp") event.preventDefault();
    }
  });

  form.hidden = status.hidden = section.querySelector(".keys").hidden = false;
  section.querySelector(".pages").hidden = true;
  window.addEventListener("hashchange", () => { if (restore()) section.scrollIntoView(); });
  if (location.hash.includes("=") && restore()) section.scrollIntoView();
  else apply();
})();
