// Content in the forms that browsers accept.

/** Content with its compressed forms. */
export interface Forms {
  readonly plain: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** Returns the smallest form that a client accepts, with its encoding. The encoding of plain content is empty. */
export function chooseForm({ plain, br, gzip }: Forms, accepted: string): [content: Buffer, encoding: string] {
  const accepts = (name: string) =>
    new RegExp(`(^|,)\\s*${name}\\s*(;\\s*q=(0\\.\\d*[1-9]|1)[^,]*)?(,|$)`).test(accepted);
  if (br && accepts("br")) return [br, "br"];
  if (gzip && accepts("gzip")) return [gzip, "gzip"];
  return [plain, ""];
}

/** Returns the entity tag of a form. RFC 9110 §8.8.3.3: each form has its own. */
export function tagOf(digest: string, encoding: string): string {
  return `"${digest}${encoding === "" ? "" : `-${encoding}`}"`;
}
