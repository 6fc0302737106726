// How dense tables are. `scheme.js` applies it before the first frame.

const stored = "gatehouse-density";

export type Density = "comfortable" | "compact";

/** Returns what was chosen in this browser. */
export function density(): Density {
  return localStorage.getItem(stored) === "compact" ? "compact" : "comfortable";
}

/** Changes the density, and remembers it. */
export function chooseDensity(chosen: Density): void {
  localStorage.setItem(stored, chosen);
  document.documentElement.dataset.density = chosen;
}
