import type { ResponseHeaders } from "../transport/http/response.ts";

/**
 * Returns the headers of the console's pages, with their content security policy. With a nonce, which only the development server has,
 * scripts and style elements that carry it are allowed too.
 */
export function pageHeaders(nonce?: string): ResponseHeaders {
  const own = nonce === undefined ? "'self'" : `'self' 'nonce-${nonce}'`;
  return {
    "content-security-policy": policy(own),
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
  };
}

function policy(own: string): string {
  return [
    "default-src 'none'",
    `script-src ${own}`,
    `style-src ${own}`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
