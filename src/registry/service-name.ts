// What a registry calls itself in its challenge.

/** The names: each is an audience, stands in command lines as it is, and names a folder of a token cache. */
export const serviceNamePattern = /^(?!\.{1,2}$)[A-Za-z0-9._:/-]{1,255}$/;
