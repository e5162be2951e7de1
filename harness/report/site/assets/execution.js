// Executions: an event that is pointed at or focused highlights its edges, the events at their
// other ends, and its line of source.
"use strict";
(() => {
  for (const drawing of document.querySelectorAll("svg.cycle")) {
    const nodes = new Map([...drawing.querySelectorAll(".node")].map((node) => [node.dataset.node, node]));
    const arrows = [...drawing.querySelectorAll(".arrow")];
    const lines = (site) => (site ? document.querySelectorAll(`[data-site="${CSS.escape(site)}"]:not(.node)`) : []);
    const clear = () => {
      drawing.classList.remove("pointing");
      for (const each of document.querySelectorAll(".lit")) each.classList.remove("lit");
    };
    const light = (node) => {
      clear();
      drawing.classList.add("pointing");
      node.classList.add("lit");
      for (const arrow of arrows) {
        const ends = arrow.dataset.ends.split(" ");
        if (!ends.includes(node.dataset.node)) continue;
        arrow.classList.add("lit");
        for (const end of ends) nodes.get(end).classList.add("lit");
      }
      for (const line of lines(node.dataset.site)) line.classList.add("lit");
    };
    for (const node of nodes.values()) {
      node.addEventListener("pointerenter", () => light(node));
      node.addEventListener("focus", () => light(node));
      node.addEventListener("pointerleave", clear);
      node.addEventListener("blur", clear);
    }
  }
})();
