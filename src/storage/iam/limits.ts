/** The mappings that one identity provider may have: a sign-in reads them, and deleting the provider deletes them. */
export const maxMappings = 1000;
