/** Programs for networks, machines and packages, and what makes them run others. */

import type { ProgramRow } from './program-row.ts';
import { words } from '../../system/words.ts';

const NETWORK: readonly ProgramRow[] = [
  {
    programs: ['curl'],
    can: 'read options from a file, load an engine or write files',
    short: 'oOKDcJwT',
    long: words(
      'output remote-name config dump-header cookie-jar trace engine libcurl stderr output-dir write-out remote-header-name upload-file hsts alt-svc etag-save unix-socket abstract-unix-socket',
    ),
    asked: 'curl -sSLo x https://a.example',
    passes: 'curl -sS https://a.example',
  },
  {
    programs: ['scp', 'sftp'],
    can: 'start another program to connect with',
    short: 'SoFDJbs',
    asked: 'scp -oProxyCommand=x a b:',
    passes: 'scp a b',
  },
  {
    programs: ['tcpdump', 'tshark', 'dumpcap'],
    can: 'run a program on what it captured, or write files',
    short: 'zwZ',
    long: words('postrotate-command'),
    asked: 'tcpdump -z x',
    passes: 'tcpdump -n',
  },
  {
    programs: ['nmap'],
    can: 'run scripts and write files',
    short: 'Aos',
    long: words('script datadir servicedb versiondb resume stylesheet interactive'),
    asked: 'nmap --script=x y',
    passes: 'nmap -p80 y',
  },
  {
    programs: ['openssl'],
    can: 'load engines, providers and configuration',
    words: words('-engine -provider -provider-path -config -out -writerand -keyform'),
    known: words('version ciphers x509 dgst rand verify list -v'),
    asked: 'openssl dgst -engine x',
    passes: 'openssl version',
  },
  {
    programs: ['ip'],
    can: 'run a program in another namespace or read commands from a file',
    pattern: /^(?:n|ne|net|netn|netns|v|vr|vrf)$/,
    short: 'bnf',
    long: words('batch netns force'),
    words: words('-batch -netns'),
    asked: 'ip netns exec a x',
    passes: 'ip addr',
  },
  {
    programs: words('iptables ip6tables arptables ebtables'),
    can: 'run another loader of modules',
    short: 'M',
    long: ['modprobe'],
    asked: 'iptables --modprobe=x -L',
    passes: 'iptables -L',
  },
];

const SYSTEMS: readonly ProgramRow[] = [
  {
    programs: ['docker', 'podman', 'nerdctl'],
    can: 'run programs in containers, with the rights of their daemon',
    known: words('ps images logs inspect version top port history -v --version'),
    asked: 'docker run x',
    passes: 'docker ps -a',
  },
  {
    programs: ['kubectl', 'oc'],
    can: 'run programs in pods and plugins beside it',
    known: words('get describe logs version explain api-resources api-versions top'),
    asked: 'kubectl exec a -- x',
    passes: 'kubectl get pods',
  },
  {
    programs: ['kubectl', 'oc'],
    can: 'run the login helper of another configuration',
    long: ['kubeconfig'],
    asked: 'kubectl get pods --kubeconfig=x',
    passes: 'kubectl get pods',
  },
  {
    programs: ['gh', 'glab'],
    can: 'run extensions and aliases',
    known: words('pr issue release run workflow label search status version --version'),
    asked: 'gh extension exec x',
    passes: 'gh pr list',
  },
  {
    programs: ['systemctl'],
    can: 'start, stop and edit services',
    known: words(
      'status list-units list-unit-files is-active is-enabled show cat --version --no-pager',
    ),
    short: 'HM',
    long: words('host machine'),
    asked: 'systemctl start x',
    passes: 'systemctl status x',
  },
  {
    programs: ['apt', 'apt-get', 'apt-cache', 'aptitude'],
    can: 'install software and run hooks',
    known: words('list show search policy --version'),
    short: 'oc',
    long: words('option config-file'),
    asked: 'apt install x',
    passes: 'apt show x',
  },
  {
    programs: ['brew'],
    can: 'install software and run code',
    known: words('list info search --version'),
    asked: 'brew install x',
    passes: 'brew list',
  },
  {
    programs: ['dpkg'],
    can: 'install software, run hooks or use another root',
    long: words('pre-invoke post-invoke status-logger root instdir admindir'),
    known: words('-l -L -s -S --list --listfiles --status --search --version'),
    asked: 'dpkg -i x',
    passes: 'dpkg -l',
  },
  {
    programs: ['coreutils'],
    can: 'be any of its programs',
    always: true,
    asked: 'coreutils --coreutils-prog=rm x',
  },
];

/** Programs for networks, machines and packages, and what makes them run others. */
export const PROGRAMS_FOR_SYSTEMS: readonly ProgramRow[] = Object.freeze([...NETWORK, ...SYSTEMS]);
