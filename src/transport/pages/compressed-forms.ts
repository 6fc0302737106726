// Content in the forms that browsers accept.
import { acceptsCoding } from "../http/content-coding.ts";

/** Content with its compressed forms. */
export interface Forms {
  readonly plain: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** Returns the smallest form that a client accepts, with its encoding. The encoding of plain content is empty. */
export function chooseForm({ plain, br, gzip }: Forms, accepted: string): [content: Buffer, encoding: string] {
  if (br && acceptsCoding(accepted, "br")) return [br, "br"];
  if (gzip && acceptsCoding(accepted, "gzip")) return [gzip, "gzip"];
  return [plain, ""];
}

/** Returns the entity tag of a form. RFC 9110 §8.8.3.3: each form has its own. */
export function tagOf(digest: string, encoding: string): string {
  return `"${digest}${encoding === "" ? "" : `-${encoding}`}"`;
}
