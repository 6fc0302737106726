/** The user name that says to a registry: the password is an API token. */
export const tokenUser = "_token";
