// Answers a shell's completion request: one candidate per line with its description, then a directive for the shell.
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { type Candidate, completerOf } from "../client/completing.ts";
import { openSession } from "../client/session.ts";
import { isPlainWord, printable } from "../escape.ts";
import { CommandFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";
import { findPlace, type Place, type Target } from "./place.ts";

/** How long to wait for a server, in milliseconds: the user waits at the keyboard. */
const patienceMs = 1500;

/** Directives: complete file names, or nothing. The numbers are those of the scripts for zsh and fish. */
const directives = { files: 0, nothing: 4 };

/** Prints the candidates for the last word. Prints no errors: the user has not run anything yet. */
export async function answerShell(program: Command, shell: Shell, words: readonly string[]): Promise<void> {
  const place = findPlace(program, words);
  const { target } = place;
  const candidates = target ? await candidatesOf(shell, place, target) : [];
  const before = target?.kind === "value" ? target.before : "";
  const lines = candidates
    .filter(({ value }, i) => value.startsWith(target?.beginning ?? "") && isFirst(candidates, value, i))
    .map(({ value, description = "" }) => `${before}${value}\t${printable(description)}\n`);
  shell.stdout.write(`${lines.join("")}:${target && takesFile(target) ? directives.files : directives.nothing}\n`);
}

async function candidatesOf(shell: Shell, place: Place, target: Target): Promise<readonly Candidate[]> {
  if (target.kind === "names") return namesIn(target.command, target.beginning);
  const { argChoices } = target.of;
  if (argChoices) return argChoices.map((value) => ({ value }));
  const found = await askServer(shell, place, target);
  // Words that need quotes, and those that look like flags, are not offered.
  return found.filter(({ value }) => isPlainWord(value));
}

/** Reports whether a candidate with this value occurs for the first time. */
function isFirst(candidates: readonly Candidate[], value: string, i: number): boolean {
  return candidates.findIndex((candidate) => candidate.value === value) === i;
}

/** Returns flags if one was started, else the names of commands. */
function namesIn(command: Command, beginning: string): Candidate[] {
  const help = command.createHelp();
  if (beginning.startsWith("-"))
    return help
      .visibleOptions(command)
      .flatMap(({ long, description }) => (long ? [{ value: long, description }] : []));
  return help.visibleCommands(command).map((inner) => ({ value: inner.name(), description: inner.description() }));
}

/**
 * Returns the candidates of the completer. None if no server responds or no token is valid; tokens are not renewed for
 * completion.
 */
async function askServer(shell: Shell, { server }: Place, target: Target & { kind: "value" }) {
  const completer = completerOf(target.of);
  if (!completer) return [];
  try {
    using session = await openSession(shell, target.command, server, "as they are");
    using patience = timeout(patienceMs);
    return (await Promise.race([completer(session, target.beginning), patience.passed])) ?? [];
  } catch (error) {
    if (error instanceof CommandFailure) return [];
    throw error;
  }
}

/** Resolves to undefined after this time. Disposing cancels it. */
function timeout(ms: number): { readonly passed: Promise<undefined> } & Disposable {
  const ended = new AbortController();
  const passed = sleep(ms, undefined, { signal: ended.signal }).catch(() => undefined);
  return { passed, [Symbol.dispose]: () => ended.abort() };
}

/** Reports whether a value is a file name, according to the help. */
function takesFile(target: Target): boolean {
  if (target.kind === "names") return false;
  const text = "flags" in target.of ? target.of.flags : target.of.name();
  return /path|file/.test(text);
}
