/* The search of the theme runs in a worker, which a page that is opened from a file may not start. There, its
   script runs in a hidden frame instead. The theme in English needs no more than one script and one listener on
   each side. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const element = this.inside.document.createElement("script");
      element.src = new URL(script, location);
      this.loaded = new Promise((loaded) => element.addEventListener("load", loaded));
      this.inside.document.body.append(element);
    }
    postMessage(data) {
      this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
