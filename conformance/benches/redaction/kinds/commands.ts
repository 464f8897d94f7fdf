/** Passwords and tokens on the command lines of well-known programs. */

import { whole } from '../carriers.ts';

/** Options that take a secret. */
export const COMMANDS = [
  whole(
    'curl-user',
    'gitleaks: curl-auth-user',
    'curl -u ada:{password} https://api.example.org/v1/items',
    "curl --user 'ada:{password}' -sS https://api.example.org",
  ),
  whole(
    'curl-header',
    'gitleaks: curl-auth-header',
    'curl -H "Authorization: Bearer {base64url:40}" https://api.example.org',
    "curl -s -H 'X-Api-Key: {base62:32}' https://api.example.org",
  ),
  whole(
    'curl-data',
    'docs: curl --data',
    'curl -X POST https://api.example.org/login -d \'{"user":"ada","password":"{password}"}\'',
    "curl -d 'user=ada&password={base62:14}' https://api.example.org/login",
  ),
  whole(
    'wget',
    'docs: wget',
    'wget --user=ada --password={password} https://files.example.org/report.pdf',
  ),
  whole('httpie', 'docs: HTTPie', 'http -a ada:{password} GET https://api.example.org/v1/items'),
  whole(
    'docker-login',
    'docs: docker login',
    'docker login -u ada -p {password} registry.example.org',
    'docker login registry.example.org --username ada --password {password}',
  ),
  whole(
    'docker-login-stdin',
    'docs: docker login',
    "echo '{password}' | docker login -u ada --password-stdin registry.example.org",
  ),
  whole(
    'docker-build-argument',
    'docs: docker build',
    'docker build --build-arg NPM_TOKEN={uuid} -t shop .',
  ),
  whole(
    'dockerfile-argument',
    'docs: Dockerfile reference',
    'FROM alpine\nARG DB_PASSWORD={password}\nRUN ./configure\n',
  ),
  whole(
    'helm-registry',
    'docs: helm registry login',
    'helm registry login registry.example.org --username ada --password {password}',
  ),
  whole(
    'helm-set',
    'docs: helm',
    'helm upgrade shop ./chart --set auth.password={password} --set replicas=3',
  ),
  whole(
    'kubectl-literal',
    'docs: kubectl create secret',
    'kubectl create secret generic shop --from-literal=password={password}',
  ),
  whole(
    'kubectl-registry',
    'docs: kubectl create secret',
    'kubectl create secret docker-registry pull --docker-server=registry.example.org --docker-username=ada --docker-password={password}',
  ),
  whole(
    'kubectl-token',
    'docs: kubectl',
    'kubectl --server https://k8s.example.org --token {base64url:60} get pods',
  ),
  whole('oc-login', 'docs: oc login', 'oc login https://api.example.org:6443 -u ada -p {password}'),
  whole(
    'sshpass',
    'docs: sshpass',
    'sshpass -p {password} ssh ada@host.example.org',
    "sshpass -p '{password}' scp a.txt ada@host.example.org:",
  ),
  whole(
    'smbclient',
    'docs: smbclient',
    'smbclient //files.example.org/share -U ada%{password} -c ls',
  ),
  whole(
    'mount-cifs',
    'docs: mount.cifs',
    'mount -t cifs //files.example.org/share /mnt -o username=ada,password={base62:14},vers=3.0',
  ),
  whole('net-use', 'docs: net use', 'net use Z: \\\\files\\share {password} /user:ada'),
  whole(
    'openssl-passin',
    'docs: openssl',
    'openssl rsa -in key.pem -passin pass:{password} -out plain.pem',
    'openssl enc -aes-256-cbc -pass pass:{password} -in a -out b',
  ),
  whole(
    'openssl-key',
    'docs: openssl enc',
    'openssl enc -aes-256-cbc -K {hex:64} -iv {~hex:32} -in a -out b',
  ),
  whole('gpg-passphrase', 'docs: gpg', 'gpg --batch --passphrase {password} --decrypt backup.gpg'),
  whole('htpasswd-command', 'docs: htpasswd', 'htpasswd -bc /etc/nginx/.htpasswd ada {password}'),
  whole('keytool', 'docs: keytool', 'keytool -list -keystore shop.jks -storepass {password}'),
  whole(
    'zip-password',
    'docs: zip',
    'zip -r -P {password} backup.zip data',
    '7z x backup.7z -p{base62:14}',
  ),
  whole(
    'svn',
    'docs: svn',
    'svn checkout https://svn.example.org/shop --username ada --password {password}',
  ),
  whole(
    'az-login',
    'docs: az login',
    'az login --service-principal -u {~uuid} -p {base64url:40} --tenant {~uuid}',
  ),
  whole(
    'aws-configure',
    'docs: aws configure set',
    'aws configure set aws_secret_access_key {base64:40}',
  ),
  whole('gh-secret', 'docs: gh secret set', 'gh secret set DEPLOY_KEY --body {base62:40}'),
  whole(
    'vault-login',
    'docs: vault login',
    'vault login -method=userpass username=ada password={password}',
    'vault kv put secret/shop password={password}',
  ),
  whole(
    'heroku-config',
    'docs: heroku config',
    'heroku config:set SESSION_SECRET={base62:40} --app shop',
  ),
  whole(
    'rclone',
    'docs: rclone',
    'rclone config create files webdav url https://files.example.org user ada pass {password}',
  ),
  whole(
    'ipmitool',
    'docs: ipmitool',
    'ipmitool -I lanplus -H 10.0.0.9 -U admin -P {password} power status',
  ),
  whole(
    'snmp-command',
    'docs: snmpwalk',
    'snmpwalk -v3 -u ada -l authPriv -a SHA -A {password} -x AES -X {~word}-privacy 10.0.0.9',
  ),
  whole('xfreerdp', 'docs: xfreerdp', 'xfreerdp /v:host.example.org /u:ada /p:{password}'),
  whole('chpasswd', 'docs: chpasswd', "echo 'ada:{password}' | chpasswd"),
  whole('useradd', 'docs: cloud-init', '#cloud-config\nchpasswd:\n  list: |\n    ada:{password}\n'),
  whole(
    'powershell-secure-string',
    'docs: ConvertTo-SecureString',
    '$p = ConvertTo-SecureString "{password}" -AsPlainText -Force',
  ),
  whole(
    'restic',
    'docs: restic',
    'RESTIC_PASSWORD={password} restic -r sftp:ada@host:/backup snapshots',
  ),
  whole('rabbitmqctl', 'docs: rabbitmqctl', 'rabbitmqctl add_user ada {password}'),
  whole(
    'process-list',
    'docs: ps',
    'ada  4121  0.0  0.1  12345  678 ?  S  09:14  0:00 /usr/bin/backup --user=ada --password={base62:14} --all',
  ),
  whole(
    'shell-history',
    'docs: bash history',
    '#1929172443\nexport API_TOKEN={base62:40}\n#1929172450\nls -la\n',
  ),
];
