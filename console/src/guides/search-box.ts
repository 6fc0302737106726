// The search box of the guides. Without scripts it stays hidden, and the navigation has all guides.
import { findPassages, type Match, type Passage } from "./passages.ts";

const box = document.querySelector<HTMLElement>(".guide-search")!;
const input = box.querySelector("input")!;
const panel = box.querySelector<HTMLElement>(".found")!;
const status = panel.querySelector("p")!;
const list = panel.querySelector("ol")!;

let passages: Promise<Passage[]> | undefined;

/** Loads the texts on first use. A failure is not kept. */
function load(): Promise<Passage[]> {
  passages ??= fetch("/docs/search.json").then((reply) => {
    if (!reply.ok) throw new Error(String(reply.status));
    return reply.json() as Promise<Passage[]>;
  });
  passages.catch(() => {
    passages = undefined;
  });
  return passages;
}

async function show(): Promise<void> {
  const query = input.value.trim();
  panel.hidden = query === "";
  if (query === "") return;
  try {
    const found = findPassages(await load(), query);
    // The reader may have typed on.
    if (query !== input.value.trim()) return;
    list.replaceChildren(...found.map(toItem));
    status.textContent = found.length === 0 ? `No guide has “${query}”.` : `${found.length} results`;
  } catch {
    list.replaceChildren();
    status.textContent = "The guides cannot be searched now.";
  }
}

function toItem({ passage: { address, title, heading }, excerpt }: Match): HTMLElement {
  const link = Object.assign(document.createElement("a"), { href: address, className: "found-link" });
  const name = Object.assign(document.createElement("strong"), { textContent: heading });
  const text = Object.assign(document.createElement("span"), { textContent: excerpt, className: "found-text" });
  link.append(name, heading === title ? "" : ` – ${title}`, text);
  const item = document.createElement("li");
  item.append(link);
  return item;
}

box.hidden = false;
input.addEventListener("focus", () => void load().catch(() => {}));
input.addEventListener("input", () => void show());
input.addEventListener("focus", () => void show());
box.addEventListener("focusout", ({ relatedTarget }) => {
  if (!box.contains(relatedTarget as Node | null)) panel.hidden = true;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !panel.hidden) {
    panel.hidden = true;
    input.focus();
  }
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
});
