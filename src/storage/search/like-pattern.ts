/** The LIKE pattern of texts that contain this one, with a backslash as the escape character. */
export function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, "\\$&")}%`;
}
