// Where a development server leaves the tokens of its owner.

/** The files in the data directory, by what the token in them is for. */
export const ownerTokenFiles = { api: "owner-token", registry: "owner-registry-token" } as const;
