// Texts whose contrast with what is behind them is below that of WCAG 2.1, level AA: 4.5 to 1, and
// 3 to 1 for large ones. A control that is disabled is exempt.
() => {
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const colour = (text) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = text;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = (top, bottom) => bottom.map((value, at) => top[at] * top[3] + value * (1 - top[3]));
  const luminance = (rgb) => {
    const [red, green, blue] = rgb.map((each) => (each / 255 <= 0.03928 ? each / 255 / 12.92 : ((each / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const parents = function* (element) { for (let at = element; at; at = at.parentElement) yield at; };
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const box = element.getBoundingClientRect();
    if (!walker.currentNode.data.trim() || !box.width || !box.height || element.matches("script, style, :disabled")) continue;
    const style = getComputedStyle(element);
    const [...text] = colour(element.closest("svg") ? style.fill : style.color);
    let behind = [255, 255, 255];
    for (const each of [...parents(element)].reverse()) {
      behind = over(colour(getComputedStyle(each).backgroundColor), behind);
      text[3] *= getComputedStyle(each).opacity;
    }
    const [light, dark] = [luminance(over(text, behind)), luminance(behind)].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < (large ? 3 : 4.5)) found.add(`${ratio.toFixed(2)} ${element.tagName}.${element.getAttribute("class")} ${walker.currentNode.data.trim().slice(0, 30)}`);
  }
  return [...found];
}
