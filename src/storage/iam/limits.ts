/**
 * The maximum number of mappings of an identity provider: a sign-in reads them, and deleting the provider deletes them.
 */
export const maxMappings = 1000;
