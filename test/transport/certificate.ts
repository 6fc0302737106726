// Self-signed certificates for localhost and 127.0.0.1, valid for a hundred years, and their keys. Public, hence worthless: for
// tests on the loopback interface and for nothing else.

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

/** Another certificate with the same key. */
export const renewedCertificate = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUAI7ZBpjf+97T2Qzh4Ye9iEI2DSswCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNTAyMjYwOFoYDzIxMjYxMTAx
MDIyNjA4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASeeYbZpc/kSkQncTQHmpHPgHyGrb9h5OQhdLZ63zMKtlty57hmpLOg
5Y198m0Y9AEKNOTpI6UselFrY5ZKbcWjo28wbTAdBgNVHQ4EFgQUHzCvyNJwacnK
pv7yYzbyQbGaSNgwHwYDVR0jBBgwFoAUHzCvyNJwacnKpv7yYzbyQbGaSNgwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgQin2fqlyZ+PxeIjy/LC9f6oHxcf9yRs4hguYrudobu4CIQDG
JR3Hx+lj9hh1XqBnY1JqIEySfCjYtP22CLlU3gynfA==
-----END CERTIFICATE-----
`;

/** Another certificate. */
export const otherCertificate = `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUdEApFPD1h0Mdqkr/I4EiTqUE/xwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNTAyMjUyMFoYDzIxMjYxMTAx
MDIyNTIwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASO2VxyBZh4doTeUypDzL1mgTpkJucoMQQTEyG1E7BdQv64gMcSgXCi
7cG0V73hPsqwUb38zu2YSe2nWgsqU0o0o28wbTAdBgNVHQ4EFgQUT4eihI+tpGvr
dDL77kE0d9hsvf0wHwYDVR0jBBgwFoAUT4eihI+tpGvrdDL77kE0d9hsvf0wDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDRwAwRAIgMmdKuUxsA+ZC2+jd0s9MKkiDb2pENQZ/QD+mFgIKgM8CIHl2
jp3VFzETR5MTDb3dN3R/zEkjK3qJCMUMoMXxb1vW
-----END CERTIFICATE-----
`;

/** The key of the other certificate. */
export const otherCertificateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjYgQTSN8k1Kl6Fvm
TBi34bvOLStapkPp5Bmx+dpJScGhRANCAASO2VxyBZh4doTeUypDzL1mgTpkJuco
MQQTEyG1E7BdQv64gMcSgXCi7cG0V73hPsqwUb38zu2YSe2nWgsqU0o0
-----END PRIVATE KEY-----
`;
