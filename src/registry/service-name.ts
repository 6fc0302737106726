// The service name that a registry uses in its challenge.

/**
 * Valid service names: each is an audience, an unquoted word in command lines, and the name of a folder in token
 * caches.
 */
export const serviceNamePattern = /^(?!\.{1,2}$)[A-Za-z0-9._:/-]{1,255}$/;
