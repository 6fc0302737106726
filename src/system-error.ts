// What the system says of a call that failed.

/** Whether an error is the system's of this code, such as ENOENT. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
