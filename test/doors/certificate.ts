// A self-signed certificate for localhost and 127.0.0.1, valid for a hundred years, and its key. Public, hence worthless:
// for tests on the loopback interface and for nothing else.

/** The certificate, which is its own root. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIULfkw9munmI8SIyaeWKP0gkDygrUwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMDEzMTgyOFoYDzIxMjYxMDI3
MTMxODI4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASeeYbZpc/kSkQncTQHmpHPgHyGrb9h5OQhdLZ63zMKtlty57hmpLOg
5Y198m0Y9AEKNOTpI6UselFrY5ZKbcWjo28wbTAdBgNVHQ4EFgQUHzCvyNJwacnK
pv7yYzbyQbGaSNgwHwYDVR0jBBgwFoAUHzCvyNJwacnKpv7yYzbyQbGaSNgwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAJk6r99celg1yaCrpV2XnxXuw0Oc2TJHfy6Ye3eIVfT8AiEA
9sgXOJGIkaryJi+8aOBKFc2o+fns4x7LZHdJMmx/BW0=
-----END CERTIFICATE-----
`;

/** The key of the certificate. */
export const certificateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgMbqyDCEza/HJ/c+e
3LnfocTdehmNubmDanx1Srbp6huhRANCAASeeYbZpc/kSkQncTQHmpHPgHyGrb9h
5OQhdLZ63zMKtlty57hmpLOg5Y198m0Y9AEKNOTpI6UselFrY5ZKbcWj
-----END PRIVATE KEY-----
`;
