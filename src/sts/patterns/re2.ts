import { loader, once } from "../../base/lazy.ts";

/** The library for RE2 patterns, loaded with the first pattern because its Unicode tables take time. */
export const re2 = once((): typeof import("re2js") => loader(import.meta.url)("re2js"));
