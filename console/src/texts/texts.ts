// The catalogue in use. The build compiles its messages (vite.config.ts).
import { i18n } from "@lingui/core";
import { useLingui } from "@lingui/react";
import type { Catalogue, Messages, TextId } from "./catalogues.ts";

export type Language = "en" | "de";
export type { TextId };
/** Returns a text with values in it. */
export type Texts = (id: TextId, values?: Readonly<Record<string, unknown>>) => string;

const stored = "gatehouse-language";
const files = import.meta.glob<{ readonly texts: Messages }>("./*/*.ts");
const loaded = new Set<Catalogue>(["shell"]);
/** The language that was chosen, or that of the browser. */
let language: Language = (localStorage.getItem(stored) ?? navigator.language).startsWith("de") ? "de" : "en";

/** Loads the texts of the frame, in the language in use. */
export async function openTexts(): Promise<void> {
  await load("shell", language);
  activate();
}

/** Loads the texts of a view, in the language in use. */
export async function loadTexts(catalogue: Catalogue): Promise<void> {
  loaded.add(catalogue);
  await load(catalogue, language);
}

/** Changes the language, and remembers it. Rejects if its texts cannot be loaded. */
export async function chooseLanguage(chosen: Language): Promise<void> {
  await Promise.all([...loaded].map((catalogue) => load(catalogue, chosen)));
  localStorage.setItem(stored, chosen);
  language = chosen;
  activate();
}

async function load(catalogue: Catalogue, wanted: Language): Promise<void> {
  const { texts } = await files[`./${wanted}/${catalogue}.ts`]!();
  i18n.load(wanted, texts);
}

function activate(): void {
  i18n.activate(language);
  document.documentElement.lang = language;
}

/** Whether there is a text with this id in what is loaded. */
export function isTextId(id: string): id is TextId {
  return Object.hasOwn(i18n.messages, id);
}

/** The texts in use. `locale` is the browser's variety of the language, for dates and numbers: in "en", 3/4 is the fourth of March. */
interface TextsInUse {
  readonly t: Texts;
  readonly language: Language;
  readonly locale: string;
}

/** Returns the texts in the language in use, and renders again when it changes. */
export function useTexts(): TextsInUse {
  const { i18n: current } = useLingui();
  const language = current.locale as Language;
  return {
    t: (id, values) => current._(id, values as Record<string, unknown>),
    language,
    locale: localeOf(language),
  };
}

function localeOf(language: Language): string {
  return navigator.languages.find((one) => one === language || one.startsWith(`${language}-`)) ?? language;
}

interface Formats {
  readonly time: Intl.DateTimeFormat;
  readonly day: Intl.DateTimeFormat;
  readonly ago: Intl.RelativeTimeFormat;
  readonly after: Intl.RelativeTimeFormat;
}

const formats = new Map<string, Formats>();

/** Returns the formats of a language, made once: rows that scroll into view write many times. */
function formatsOf(locale: string): Formats {
  const made = formats.get(locale) ?? {
    time: new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "long" }),
    day: new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" }),
    ago: new Intl.RelativeTimeFormat(locale, { numeric: "auto" }),
    after: new Intl.RelativeTimeFormat(locale, { numeric: "always" }),
  };
  formats.set(locale, made);
  return made;
}

/** Writes a time, with its zone. */
export function timeText(time: Date, locale: string): string {
  return formatsOf(locale).time.format(time);
}

/** Writes a day, as the server counts days: they begin at midnight UTC. */
export function dayText(time: Date, locale: string): string {
  return formatsOf(locale).day.format(time);
}

/** Writes a time relative to now, such as "2 minutes ago". */
export function agoText(time: Date, locale: string): string {
  const seconds = Math.round((time.getTime() - Date.now()) / 1000);
  const format = formatsOf(locale).ago;
  const units = [
    ["second", 60],
    ["minute", 60],
    ["hour", 24],
    ["day", 365],
  ] as const;
  let value = seconds;
  for (const [unit, size] of units) {
    // Rounded first: what is almost an hour is no 60 minutes.
    if (Math.abs(Math.round(value)) < size) return format.format(Math.round(value), unit);
    value /= size;
  }
  return format.format(Math.round(value), "year");
}

const lengthUnits = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
] as const;

/** Returns the largest unit that divides a length of time in milliseconds, and how many of it there are. */
function wholeUnit(length: number): readonly [count: number, unit: (typeof lengthUnits)[number][0]] {
  const [unit, size] =
    lengthUnits.find(([, one]) => length >= one && length % one === 0) ?? (["second", 1000] as const);
  return [Math.round(length / size), unit];
}

/** Writes a length of time that lies ahead, such as "in 8 hours". */
export function afterText(length: number, locale: string): string {
  return formatsOf(locale).after.format(...wholeUnit(length));
}

/** Writes a length of time, such as "8 hours" or "90 minutes". */
export function lengthText(length: number, locale: string): string {
  const [count, unit] = wholeUnit(length);
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(count);
}
