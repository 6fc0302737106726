// The files with the owner's tokens of a development server.

/** The files in the data directory, by the audience of the token. */
export const ownerTokenFiles = { api: "owner-token", registry: "owner-registry-token" } as const;
