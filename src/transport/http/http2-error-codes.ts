// RFC 9113 §7. Copied as numbers, because node:http2 is loaded only with the first connection that speaks it.

export const internalError = 0x2;
export const enhanceYourCalm = 0xb;
export const cancel = 0x8;
