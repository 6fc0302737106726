/** Shortens the digest of an image, without its algorithm. */
export function shortDigest(digest: string): string {
  const hex = digest.slice(digest.indexOf(":") + 1);
  return `${hex.slice(0, 6)}…${hex.slice(-4)}`;
}
