// The table of tests: filtered, sorted and paged in the browser. Only one page of rows is in the
// document at a time, so that ten thousand tests cost no more than two hundred.
"use strict";
(() => {
  const data = window.weakspot;
  const section = document.getElementById("tests");
  if (!data || !section) return;

  const PAGE = 200;
  const WORDS = { N: "Never", S: "Sometimes", A: "Always", U: "Undefined", "?": "Unknown", "!": "disagree", "-": "" };
  const [NAME, PAGE_FILE, SHAPE, STRUCTURES, WHERE, VERDICTS, SEEN, MARKS] = [0, 1, 2, 3, 4, 5, 6, 7];
  const head = section.querySelector("thead");
  const body = section.querySelector("tbody");
  const search = section.querySelector("input");
  const shapes = section.querySelector("select");
  const marks = section.querySelector(".marks");
  const pager = section.querySelector(".pager");

  const rows = data.tests;
  const haystack = rows.map((row) =>
    [row[NAME], row[SHAPE], row[STRUCTURES], row[WHERE], data.scenarios[row[NAME]] || ""].join(" ").toLowerCase());
  const rate = (row) => Math.max(0, ...row[SEEN].map(([, target, runs]) => (runs ? target / runs : 0)));
  const columns = [
    { title: "test", key: (row) => row[NAME] },
    ...data.models.map((model, at) => ({ title: model, key: (row) => row[VERDICTS][at] })),
    ...(data.machines.length ? [{ title: "observed", key: rate, down: true }] : []),
  ];
  let order = rows.map((_, at) => at);
  let found = order;
  let first = 0;
  let mark = "";

  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  const shown = (row) => {
    const line = element("tr", "", row[MARKS].includes("f") ? "contradicting" : "");
    const name = element("td", "", "name");
    const link = element("a", row[NAME]);
    link.href = section.dataset.root + "report/tests/" + encodeURIComponent(row[PAGE_FILE]);
    name.append(link, element("div", row[WHERE], "where"));
    line.append(name);
    for (const letter of row[VERDICTS]) {
      const cell = element("td");
      if (letter === "!") cell.append(element("span", "disagree", "answer undefined"));
      else cell.append(element("span", WORDS[letter], "answer " + WORDS[letter].toLowerCase()));
      line.append(cell);
    }
    if (data.machines.length) {
      const cell = element("td", "", "seen");
      const several = data.machines.length > 1;
      for (const [machine, target] of row[SEEN])
        if (target) cell.append(element("div", (several ? machine + " " : "") + target.toLocaleString("en")));
      // the other machines in two lines, those that ran the test and those that did not
      for (const [what, ran] of [["not observed", true], ["not run", false]]) {
        const others = row[SEEN].filter(([, target, runs]) => !target && !!runs === ran).map(([machine]) => machine);
        const where = others.length > 2 ? `${others.length} runs` : others.join(", ");
        const all = others.length === row[SEEN].length;
        if (others.length) cell.append(element("div", all ? what : `${what}: ${where}`, "none"));
      }
      line.append(cell);
    }
    return line;
  };

  const show = () => {
    const last = Math.min(first + PAGE, found.length);
    const fragment = document.createDocumentFragment();
    for (let at = first; at < last; at++) fragment.append(shown(rows[found[at]]));
    body.replaceChildren(fragment);
    const [back, forth] = pager.querySelectorAll("button");
    back.disabled = first === 0;
    forth.disabled = last === found.length;
    back.hidden = forth.hidden = found.length <= PAGE;
    const of = found.length === rows.length ? "" : ` of ${rows.length.toLocaleString("en")}`;
    pager.querySelector("span").textContent =
      (found.length > PAGE ? `${first + 1} to ${last}, ` : "") +
      `${found.length.toLocaleString("en")}${of} test${rows.length === 1 ? "" : "s"}`;
  };

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shape = shapes.value;
    found = order.filter((at) =>
      (!shape || rows[at][SHAPE] === shape) && (!mark || rows[at][MARKS].includes(mark)) &&
      words.every((word) => haystack[at].includes(word)));
    first = 0;
    show();
  };

  const sort = (at, cell) => {
    const column = columns[at];
    const again = cell.getAttribute("aria-sort");
    const down = again ? again === "ascending" : Boolean(column.down);
    head.querySelectorAll("th").forEach((each) => each.removeAttribute("aria-sort"));
    cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keys = rows.map(column.key);
    order.sort((a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : a - b) * (down ? -1 : 1));
    filter();
  };

  const titles = element("tr");
  columns.forEach((column, at) => {
    const cell = element("th", column.title);
    cell.dataset.sort = at;
    cell.tabIndex = 0;
    titles.append(cell);
  });
  head.append(titles);
  const counts = new Map();
  for (const row of rows) counts.set(row[SHAPE], (counts.get(row[SHAPE]) || 0) + 1);
  for (const [shape, count] of [...counts].sort((a, b) => b[1] - a[1])) {
    if (!shape) continue;
    const option = element("option", `${shape} (${count.toLocaleString("en")})`);
    option.value = shape;
    shapes.append(option);
  }
  for (const button of marks.children) button.hidden = !rows.some((row) => row[MARKS].includes(button.dataset.mark));

  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 80); });
  shapes.addEventListener("change", filter);
  marks.addEventListener("click", ({ target }) => {
    if (!target.dataset.mark) return;
    mark = mark === target.dataset.mark ? "" : target.dataset.mark;
    for (const button of marks.children) button.setAttribute("aria-pressed", String(button.dataset.mark === mark));
    filter();
  });
  const sorting = ({ target, type, key }) => {
    const cell = target.closest("th[data-sort]");
    if (cell && (type === "click" || key === "Enter")) sort(Number(cell.dataset.sort), cell);
  };
  head.addEventListener("click", sorting);
  head.addEventListener("keydown", sorting);
  pager.addEventListener("click", ({ target }) => {
    if (!target.dataset.step) return;
    first += PAGE * Number(target.dataset.step);
    show();
    section.scrollIntoView();
  });

  const fromAddress = () => {
    const asked = /^#q=(.*)/.exec(location.hash);
    if (!asked) return;
    search.value = decodeURIComponent(asked[1]);
    filter();
    section.scrollIntoView();
  };
  window.addEventListener("hashchange", fromAddress);
  filter();
  fromAddress();
})();
