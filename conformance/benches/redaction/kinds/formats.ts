/**
 * Formats that hold a secret whoever issued it: key blocks, tokens, headers, cookies, URLs, files.
 */

import { block, named, shape, whole } from '../carriers.ts';

const certificate = block('CERTIFICATE', 'MIID{~pem:900}==');

/** Keys, tokens, headers, cookies, URLs. */
export const FORMATS = [
  whole(
    'pem-rsa',
    'gitleaks: private-key',
    block('RSA PRIVATE KEY', 'MIIEpAIBAAKCAQEA{pem:1560}'),
    `${certificate}${block('RSA PRIVATE KEY', 'MIIEpAIBAAKCAQEA{pem:1560}')}`,
  ),
  whole('pem-ec', 'gitleaks: private-key', block('EC PRIVATE KEY', 'MHcCAQEEI{pem:155}')),
  whole('pem-dsa', 'gitleaks: private-key', block('DSA PRIVATE KEY', 'MIIDVgIBAAKCAQEA{pem:1100}')),
  whole(
    'pem-pkcs8',
    'gitleaks: private-key',
    block('PRIVATE KEY', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ{pem:1540}'),
  ),
  whole(
    'pem-encrypted',
    'gitleaks: private-key',
    block('ENCRYPTED PRIVATE KEY', 'MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0BBQwwHAQI{pem:1600}'),
  ),
  whole(
    'pem-openssh',
    'gitleaks: private-key',
    block(
      'OPENSSH PRIVATE KEY',
      'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMw{pem:330}',
    ),
  ),
  whole(
    'pem-of-one-line',
    'docs: environment variables of multi-line keys',
    `PRIVATE_KEY="${block('PRIVATE KEY', '{pemline:1600}', '\\n')}"`,
  ),
  whole(
    'pem-in-yaml',
    'docs: YAML block scalars',
    `tls:\n  key: |\n    ${block('RSA PRIVATE KEY', '{base64:64}\n    {base64:64}\n    {base64:64}\n    {base64:64}', '\n    ')}`,
  ),
  whole(
    'pem-in-base64',
    'docs: Kubernetes TLS secrets',
    'data:\n  tls.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t{~base64:400}\n  tls.key: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t{base64:1600}=\n',
  ),
  whole(
    'pgp-private-key',
    'gitleaks: private-key',
    block('PGP PRIVATE KEY BLOCK', '\nlQOYBG{pem:1400}\n=abcd'),
  ),
  whole(
    'putty-key',
    'docs: PuTTY key format',
    'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: shop\nPublic-Lines: 2\n{~base64:64}\n{~base64:16}\nPrivate-Lines: 1\n{base64:43}=\nPrivate-MAC: {hex:64}\n',
  ),
  whole(
    'ssh2-key',
    'docs: SSH2 key files',
    block('SSH2 ENCRYPTED PRIVATE KEY', 'Comment: "shop"\n{pem:800}').replaceAll('-----', '---- '),
  ),
  shape('json-web-token', 'gitleaks: jwt', '{jwt}', '{jwt:RS256}'),
  shape('json-web-token-in-base64', 'gitleaks: jwt-base64', '{base64of:<jwt>}'),
  whole(
    'json-web-key',
    'docs: RFC 7517',
    '{"kty":"EC","crv":"P-256","x":"{~base64url:43}","y":"{~base64url:43}","d":"{base64url:43}","kid":"1"}',
  ),
  whole('basic-header', 'github: http_basic_authentication_header', 'Authorization: Basic {basic}'),
  whole(
    'bearer-header',
    'github: http_bearer_authentication_header',
    'Authorization: Bearer {base64url:40}',
    '"authorization": "Bearer {base64url:32}"',
  ),
  whole('proxy-header', 'docs: RFC 9110', 'Proxy-Authorization: Basic {basic}'),
  whole(
    'api-key-header',
    'gitleaks: curl-auth-header',
    'X-Api-Key: {base62:32}',
    'api-key: {hex:32}',
    'x-auth-token: {base62:32}',
  ),
  whole(
    'session-cookie',
    'docs: RFC 6265',
    'Cookie: theme=dark; sessionid={lower:32}; lang=en',
    'Set-Cookie: connect.sid=s%3A{base64url:32}.{base62:43}; Path=/; HttpOnly',
    'Cookie: PHPSESSID={lower:26}; theme=dark',
  ),
  whole(
    'session-cookie-of-java',
    'docs: Jakarta Servlet',
    'Cookie: JSESSIONID={HEX:32}; theme=dark',
  ),
  whole(
    'asp-net-cookie',
    'docs: ASP.NET Core cookies',
    'Cookie: .AspNetCore.Cookies=CfDJ8{base64url:180}; theme=dark',
  ),
  whole(
    'refresh-token-of-json',
    'docs: RFC 6749',
    '{"access_token":"{base64url:43}","token_type":"Bearer","expires_in":3600}',
    '{"refresh_token":"{base64url:43}","scope":"offline_access"}',
  ),
  whole(
    'oauth-form',
    'docs: RFC 6749',
    'POST /token HTTP/1.1\r\n\r\ngrant_type=client_credentials&client_id=shop&client_secret={base64url:40}',
    'grant_type=password&username=ada&password={base62:14}&scope=all',
  ),
  whole(
    'access-token-of-query',
    'docs: RFC 6750',
    'GET /v1/items?access_token={base64url:40}&page=2 HTTP/1.1',
    '10.0.0.7 - - [11/Feb/2031:09:14:03 +0000] "GET /v1/items?api_key={base62:32} HTTP/1.1" 200 512',
  ),
  whole(
    'url-userinfo',
    'detect-secrets: basic_auth',
    'https://deploy:{base62:16}@git.example.org/acme/shop.git',
    'ftp://deploy:{password}@files.example.org/pub',
  ),
  whole(
    'proxy-variable',
    'detect-secrets: basic_auth',
    'export HTTPS_PROXY=http://shop:{base62:14}@proxy.example.org:3128',
  ),
  whole(
    'git-credentials',
    'docs: git credential-store',
    'https://ada:{base62:40}@git.example.org\n',
  ),
  whole(
    'git-extra-header',
    'docs: git http.extraHeader',
    '[http "https://git.example.org/"]\n\textraheader = AUTHORIZATION: basic {basic}\n',
  ),
  whole(
    'netrc',
    'docs: .netrc',
    'machine api.example.org\n  login ada\n  password {password}\n',
    'machine api.example.org login ada password {password}',
  ),
  whole(
    'htpasswd',
    'docs: htpasswd',
    'ada:$apr1${~base62:8}${base62:22}',
    'ada:$2y$10${base62:53}',
  ),
  whole(
    'shadow-line',
    'docs: shadow(5)',
    'root:$6${~base62:16}${base62:86}:19700:0:99999:7:::',
    'ada:$y$j9T${~base62:22}${base62:43}:19700:0:99999:7:::',
  ),
  whole(
    'kubernetes-secret',
    'gitleaks: kubernetes-secret-yaml',
    'apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\ntype: Opaque\ndata:\n  password: {base64of:<password>}\n',
  ),
  whole(
    'kubernetes-string-data',
    'docs: Kubernetes Secrets',
    'apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\nstringData:\n  db-password: {password}\n',
  ),
  whole(
    'wpa-supplicant',
    'docs: wpa_supplicant.conf',
    'network={\n\tssid="office"\n\tpsk="{password}"\n}\n',
  ),
  whole(
    'network-manager',
    'docs: NetworkManager keyfile',
    '[wifi-security]\nkey-mgmt=wpa-psk\npsk={base62:14}\n',
  ),
  whole(
    'chap-secrets',
    'docs: pppd chap-secrets',
    '# client server secret IP\nada\t*\t"{base62:16}"\t*\n',
  ),
  whole(
    'ipsec-secrets',
    'docs: strongSwan ipsec.secrets',
    '10.0.0.1 10.0.0.2 : PSK "{base62:32}"\n',
  ),
  whole(
    'radius-client',
    'docs: FreeRADIUS clients.conf',
    'client office {\n  ipaddr = 10.0.0.0/8\n  secret = {base62:20}\n}\n',
  ),
  whole(
    'tfvars',
    'gitleaks: hashicorp-tf-password',
    'administrator_login          = "shop"\nadministrator_login_password = "{base62:18}"\n',
  ),
  whole(
    'terraform-state',
    'docs: Terraform state',
    '{"attributes": {"engine": "postgres", "password": "{base62:18}", "port": 5432}}',
  ),
  whole(
    'xml-password',
    'docs: SOAP WS-Security',
    '<wsse:UsernameToken><wsse:Username>ada</wsse:Username><wsse:Password>{base62:16}</wsse:Password></wsse:UsernameToken>',
  ),
  whole(
    'web-config',
    'docs: ASP.NET connection strings',
    '<add name="Shop" connectionString="Server=db;Database=shop;User Id=sa;Password={base62:16};" providerName="System.Data.SqlClient" />',
  ),
  whole(
    'php-array',
    'docs: Laravel database configuration',
    "'username' => 'shop',\n'password' => '{password}',\n",
  ),
  whole(
    'python-assignment',
    'detect-secrets: keyword',
    'DB_USER = "shop"\nDB_PASSWORD = "{password}"\n',
  ),
  whole(
    'go-field',
    'detect-secrets: keyword',
    'cfg := Config{User: "shop", Password: "{password}", Host: "db"}',
  ),
  whole(
    'java-setter',
    'detect-secrets: keyword',
    'dataSource.setUsername("shop");\ndataSource.setPassword("{password}");',
  ),
  whole(
    'ruby-symbol',
    'detect-secrets: keyword',
    "config = { username: 'shop', :password => '{password}' }",
  ),
  whole(
    'log-of-login',
    'detect-secrets: keyword',
    '2031-02-11 09:14:03 DEBUG login attempt user=ada password={base62:12} from 10.0.0.7',
  ),
  whole(
    'coloured-diff',
    'docs: git diff --color',
    '\u001b[31m-  password: {password}\u001b[m\n\u001b[32m+\u001b[m\u001b[32m  password: changed\u001b[m',
  ),
  whole(
    'prose-password',
    'detect-secrets: keyword',
    'The password is {password}, please change it after the first login.',
    'Password: {password}',
  ),
  named(
    'django-secret-key',
    'docs: Django SECRET_KEY',
    'SECRET_KEY DJANGO_SECRET_KEY',
    'django-insecure-{base62:50}',
    '{base62:50}',
  ),
  named('rails-secret', 'docs: Rails credentials', 'SECRET_KEY_BASE secret_key_base', '{hex:128}'),
  named('rails-master-key', 'docs: Rails credentials', 'RAILS_MASTER_KEY', '{hex:32}'),
  named('laravel-key', 'docs: Laravel configuration', 'APP_KEY', 'base64:{base64:43}='),
  named(
    'session-secret',
    'detect-secrets: keyword',
    'SESSION_SECRET COOKIE_SECRET NEXTAUTH_SECRET AUTH_SECRET',
    '{base64:43}=',
  ),
  named(
    'jwt-secret',
    'detect-secrets: keyword',
    'JWT_SECRET JWT_SECRET_KEY jwtSecret',
    '{base62:48}',
  ),
  named(
    'encryption-key',
    'gitleaks: generic-api-key',
    'ENCRYPTION_KEY DATA_ENCRYPTION_KEY MASTER_KEY',
    '{base64:43}=',
    '{hex:64}',
  ),
  named(
    'generic-password',
    'detect-secrets: keyword',
    'password passwd db_password adminPassword ADMIN_PASSWORD',
    '{password}',
  ),
  named(
    'generic-api-key',
    'gitleaks: generic-api-key',
    'api_key apiKey API_KEY',
    '{base62:32}',
    '{hex:40}',
  ),
  named(
    'generic-token',
    'gitleaks: generic-api-key',
    'access_token accessToken AUTH_TOKEN authToken',
    '{base64url:40}',
  ),
  named(
    'generic-secret',
    'gitleaks: generic-api-key',
    'client_secret clientSecret CLIENT_SECRET',
    '{base64url:40}',
  ),
  named(
    'passphrase',
    'detect-secrets: keyword',
    'passphrase SSH_PASSPHRASE GPG_PASSPHRASE',
    '{password}',
  ),
  named(
    'keystore-password',
    'docs: Keystore passwords',
    'keystorePassword KEYSTORE_PASSWORD storePassword keyPassword',
    '{password}',
  ),
];
