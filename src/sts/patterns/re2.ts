import { loader, once } from "../../base/lazy.ts";

/** The library for RE2 patterns, loaded with the first pattern: its tables of Unicode take a while. */
export const re2 = once((): typeof import("re2js") => loader(import.meta.url)("re2js"));
