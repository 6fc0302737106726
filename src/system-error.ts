// What the system says of a call that failed.

/** Whether an error is the system's of this code, such as ENOENT. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/**
 * What an error says, beside the name of a file: Node puts the file of a failed call behind the reason. Of another file, such as
 * a directory above, it stays.
 */
export function reasonOf(error: unknown, file?: string): string {
  if (!(error instanceof Error)) return String(error);
  const { message, path, syscall }: NodeJS.ErrnoException = error;
  return path !== undefined && path === file ? message.replace(new RegExp(`, ${syscall} '.*$`, "s"), "") : message;
}
