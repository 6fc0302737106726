// The tab with code that was chosen last.
import type { Call } from "./code/call.ts";
import { type Language, languagesOf } from "./code/languages.ts";

const remembered = "gatehouse-reference-language";

/** Returns the tab that was chosen last; curl for a method without it. */
export function chosenLanguage(method: Pick<Call, "grpc" | "service">): Language {
  const name = localStorage.getItem(remembered);
  return languagesOf(method).find((one) => one === name) ?? "curl";
}

export function rememberLanguage(name: Language): void {
  localStorage.setItem(remembered, name);
}
