// The text of an error, in the language of the page. Codes and reasons of the API are stable, its messages are for programmers.
import { ConnectError } from "@connectrpc/connect";
import { errorDetails } from "../../../packages/client/src/errors.ts";
import { isTextId, type Texts } from "../texts/texts.ts";
import { fieldRules } from "./field-rules.ts";

/** Returns the text of an error by its violation or reason. An error of no server of Gatehouse, or of a newer one, keeps its message. */
export function errorText(t: Texts, thrown: unknown): string {
  const { reason, preconditionViolations } = errorDetails(thrown);
  const message = ConnectError.from(thrown).rawMessage;
  const id = [...preconditionViolations.map(({ type }) => type), reason].map((name) => `error.${name}`).find(isTextId);
  // The message begins with the name of its code, which the text says.
  return id === undefined ? message : t(id, { detail: message.replace(/^[A-Z][a-z ]+: /, "") });
}

/** Returns the words for a rule that a field breaks. Rules of few fields stay as the server says them. */
export function ruleText(t: Texts, description: string): string {
  for (const [pattern, id] of fieldRules) {
    const found = pattern.exec(description);
    if (found && isTextId(id)) return t(id, { value: found[1] });
  }
  return description;
}
