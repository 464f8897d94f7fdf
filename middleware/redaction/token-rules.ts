/** Secrets that can be told by their form: a prefix that an issuer chose, or the words before them. */

import { isRandomLooking, isWord } from './looks.ts';

export interface TokenRule {
  readonly label: string;
  /** Beginnings of a match, without regard to case. The expression is tried only where one of them stands. */
  readonly anchors: readonly string[];
  /**
   * Sticky, and linear: a look-behind keeps it from starting again inside a run, and nothing unbounded follows something
   * unbounded that takes the same characters. The secret is group 1, at the end of the match, or else the whole match.
   */
  readonly pattern: RegExp;
  readonly accepts?: (secret: string) => boolean;
}

const isBasicPair = (secret: string): boolean => /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(secret, 'base64').toString('latin1'));
const isMixed = (secret: string): boolean => /\d/.test(secret) && /[A-Z]/.test(secret);

const rule = (label: string, anchors: readonly string[], pattern: RegExp, accepts?: TokenRule['accepts']): TokenRule =>
  Object.freeze({ label, anchors, pattern, ...(accepts === undefined ? {} : { accepts }) });

export const TOKEN_RULES: readonly TokenRule[] = Object.freeze([
  rule('jwt', ['eyJ'], /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){1,3}/y),
  rule(
    'stripe',
    ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'pk_live_', 'pk_test_'],
    /(?<![A-Za-z0-9])[srp]k_(?:live|test)_[A-Za-z0-9]{10,}/y,
  ),
  rule('stripe', ['whsec_'], /(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/=]{20,}/y),
  rule('google', ['AIza'], /(?<![A-Za-z0-9])AIza[\w-]{35}/y),
  rule('google', ['GOCSPX-', 'ya29.'], /(?<![A-Za-z0-9])(?:GOCSPX-|ya29\.)[\w-]{20,}/y),
  rule('aws', ['AKIA', 'ASIA'], /(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])/y),
  rule('github', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{20,}/y),
  rule('github', ['github_pat_'], /(?<![A-Za-z0-9])github_pat_\w{22,}/y),
  rule('gitlab', ['glpat-'], /(?<![A-Za-z0-9])glpat-[\w-]{20,}/y),
  rule('slack', ['xox', 'xapp-'], /(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}/y),
  rule('slack', ['hooks.slack.com/'], /hooks\.slack\.com\/(?:services|workflows|triggers)\/([A-Za-z0-9/_-]{8,})/y),
  rule('api-key', ['sk-'], /(?<![A-Za-z0-9])sk-[\w-]{20,}/y, isMixed),
  rule('npm', ['npm_'], /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}/y),
  rule('sendgrid', ['SG.'], /(?<![A-Za-z0-9])SG\.[\w-]{16,}\.[\w-]{16,}/y),
  rule('huggingface', ['hf_'], /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}/y),
  rule('azure', ['sig='], /(?<=[?&;])sig=([A-Za-z0-9%+/=_-]{20,})/y),
  rule('url-password', ['://'], /:\/\/[^/\s:@"'<>]{0,128}:([^/\s@"'<>]{1,256})(?=@)/y),
  rule(
    'authorization',
    ['authorization'],
    /authorization["'\\]{0,3}\s{0,3}[:=]\s{0,3}["'\\]{0,3}(?:(?:bearer|basic|token|digest|negotiate|apikey)\s{1,3})?([A-Z0-9._~+/=-]{6,})/iy,
    (secret) => !isWord(secret),
  ),
  rule('authorization', ['bearer'], /(?<![A-Z0-9])bearer\s{1,3}([A-Z0-9._~+/=-]{16,})/iy, isRandomLooking),
  rule('authorization', ['basic'], /(?<![A-Z0-9])basic\s{1,3}([A-Z0-9+/]{8,}={0,2})/iy, isBasicPair),
]);
