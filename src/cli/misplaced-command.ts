// Suggests the whole path for a command that was called without what precedes it, or slightly misspelt.
import type { Command } from "commander";
import { everyCommand, pathOf } from "./help.ts";

/** The number of suggestions at most. */
const maxSuggestions = 3;

/**
 * Returns a line that suggests commands of the whole program; empty without one. For `groups list` and for `group list`,
 * suggests `gatehouse iam groups list`; for `iam serve`, `gatehouse serve`.
 */
export function suggestPlace(program: Command, args: readonly string[]): string {
  const words = args.filter((word) => !word.startsWith("-"));
  const from = words.findIndex((_, i) => !isCommand(program, words.slice(0, i + 1)));
  if (from < 0) return "";
  const [noun = "", ...rest] = words.slice(from);
  // The parser suggests misspelt top-level commands in their own place.
  const places = placesOf(program, noun).filter((place) => from > 0 || place.parent !== program);
  const fitting = places.filter((place) => rest[0] !== undefined && inner(place, rest[0]));
  const chosen = (fitting.length > 0 ? fitting : places).slice(0, maxSuggestions);
  const shown = chosen.map((place) => `\`gatehouse ${pathOf(inner(place, rest[0]) ?? place)}\``);
  return shown.length === 0 ? "" : `(Did you mean ${shown.join(" or ")}?)`;
}

function placesOf(program: Command, noun: string): Command[] {
  const places: Command[] = [];
  everyCommand(program, (command) => {
    if (command.parent && [command.name(), ...command.aliases()].some((name) => isLike(name, noun)))
      places.push(command);
  });
  const exact = places.filter((command) => command.name() === noun);
  return exact.length > 0 ? exact : places.filter((command) => command.commands.length > 0);
}

/** The same but for the plural, case, and _ for -. */
function isLike(name: string, word: string): boolean {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, "").replace(/ies$/, "y").replace(/s$/, "");
  return plain(name) === plain(word);
}

function isCommand(program: Command, words: readonly string[]): boolean {
  let place: Command | undefined = program;
  for (const word of words) place = place && inner(place, word);
  return place !== undefined;
}

function inner(command: Command, word: string | undefined): Command | undefined {
  return command.commands.find((candidate) => candidate.name() === word || candidate.aliases().includes(word ?? ""));
}
