/** Reports whether a text can be decoded: each percent sign begins the code of a character (RFC 3986 §2.1). */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
