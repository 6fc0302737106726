import { settings, variableOf } from "../../src/config/settings.ts";

const known = new Set(settings.map(({ name }) => variableOf(name)));

/** Returns the variables of settings that files of a deployment set, and those among them that no setting has. */
export function settingsNamed(...texts: string[]): { named: number; unknown: string[] } {
  const named = [...texts.join("\n").matchAll(/\b(GATEHOUSE_[A-Z_]+)[=:]/g)].map(([, name]) => name!);
  return { named: named.length, unknown: named.filter((name) => !known.has(name)) };
}
