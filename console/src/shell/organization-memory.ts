// Which organizations were pinned and used last, and of which the first steps are closed. The browser remembers it, not the server.

const pins = "gatehouse-pinned";
const recent = "gatehouse-recent";
const closedSteps = "gatehouse-steps-closed";

/** How many uids a list keeps. */
const kept = { [pins]: 50, [recent]: 6, [closedSteps]: 50 } as const;

function read(name: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(name) ?? "[]");
    return Array.isArray(list) ? list.filter((one) => typeof one === "string") : [];
  } catch {
    // Another program of this origin may have written it.
    return [];
  }
}

function write(name: keyof typeof kept, uids: readonly string[]): void {
  localStorage.setItem(name, JSON.stringify(uids.slice(0, kept[name])));
}

/** Returns the pinned organizations, the latest first. */
export function pinned(): readonly string[] {
  return read(pins);
}

/** Whether an organization is pinned. */
export function isPinned(uid: string): boolean {
  return pinned().includes(uid);
}

/** Pins an organization, or removes its pin. */
export function switchPin(uid: string): void {
  write(pins, isPinned(uid) ? pinned().filter((one) => one !== uid) : [uid, ...pinned()]);
}

/** Returns the organizations that were opened last, the latest first. */
export function lastUsed(): readonly string[] {
  return read(recent);
}

/** Notes that an organization was opened. */
export function noteUse(uid: string): void {
  if (lastUsed()[0] !== uid) write(recent, [uid, ...lastUsed().filter((one) => one !== uid)]);
}

/** Whether the first steps of an organization are closed. */
export function areStepsClosed(uid: string): boolean {
  return read(closedSteps).includes(uid);
}

/** Closes the first steps of an organization. */
export function closeSteps(uid: string): void {
  write(closedSteps, [uid, ...read(closedSteps).filter((one) => one !== uid)]);
}
