// Runs in the browser: shows HTML as a document and inside an element, and does to it what a reader may do.

/** Reports whether something in the HTML has called `alert`. */
globalThis.runs = async (html) => {
  globalThis.hasRun = false;
  const frame = document.createElement("iframe");
  frame.srcdoc = html;
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
  document.body.replaceChildren(frame);
  await loaded;
  const element = document.createElement("div");
  element.innerHTML = html;
  document.body.append(element);
  const elements = [frame.contentDocument ?? document, element].flatMap((root) => [...root.querySelectorAll("*")]);
  for (const each of elements) act(each);
  while ([...document.images].some((image) => !image.complete)) await turn();
  // An address that is a script runs in a task of its own.
  for (let i = 0; i < 3; i++) await turn();
  return globalThis.hasRun;
};

function act(element) {
  element.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
  element.dispatchEvent(new FocusEvent("focus"));
  const link = element.closest("a, form, button");
  const address = link?.getAttribute("href") ?? link?.getAttribute("xlink:href");
  // A link to elsewhere would only take the page away.
  const leads = address && URL.parse(address, "https://elsewhere.example.test")?.protocol !== "javascript:";
  if (!leads) element.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
}

function turn() {
  return new Promise((resolve) => setTimeout(resolve));
}
