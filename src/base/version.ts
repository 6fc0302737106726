import manifest from "../../package.json" with { type: "json" };

/** The version of the program, from its manifest. */
export const { version } = manifest;
