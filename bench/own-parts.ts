/**
 * What a good engineer writes who makes these layers for LangChain: RFC 8785 text from the package
 * that has it, digests from `node:crypto`, one expression that tells whether a text needs a closer
 * look, and a file that is appended to in batches. None of it is allium's. The scan knows the same
 * families of secrets but no disguises (base64, percent-encoding, escapes), and the receipts are
 * chained but not signed: both are work that allium does and this does not.
 */

import { createHash, createHmac } from 'node:crypto';
import { appendFile, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JsonObject, JsonValue } from 'allium';
import type { Receipt } from 'allium/receipts';
import canonicalize from 'canonicalize';
import { KEY, SESSION } from './stack-scenario.ts';

const canonical = (value: JsonValue): string => canonicalize(value) ?? '';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The hash of a value as receipts and spans have it. */
export const hmac = (value: JsonValue): string =>
  `hmac-sha256:${KEY.id}:${createHmac('sha256', KEY.secret).update(canonical(value)).digest('hex')}`;

/** The key of a value in a cache. */
export const keyOf = (value: JsonValue): string => sha256(canonical(value));

const FAMILIES: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['jwt', /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g],
  ['stripe', /\b(?:[srp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,})/g],
  ['google', /\b(?:AIza[\w-]{35}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,})/g],
  ['aws', /\bA[KS]IA[A-Z0-9]{16}\b/g],
  ['github', /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{22,})/g],
  ['gitlab', /\bglpat-[\w-]{20,}/g],
  ['slack', /\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}/g],
  ['api-key', /\bsk-[\w-]{20,}/g],
  ['npm', /\bnpm_[A-Za-z0-9]{36}/g],
  ['sendgrid', /\bSG\.[\w-]{16,}\.[\w-]{16,}/g],
  ['huggingface', /\bhf_[A-Za-z0-9]{30,}/g],
  ['private-key', /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]{0,8192}/g],
  ['authorization', /\b(?:bearer|basic)\s{1,3}[A-Z0-9._~+/=-]{16,}/gi],
  [
    'password',
    /\b[\w-]{0,32}(?:password|passwd|secret|token|api_?key)["'\\]{0,3}\s{0,3}[:=]\s{0,3}["'\\]{0,3}[^\s"'\\,;&]{6,256}/gi,
  ],
];

/** Where none of these words stands, none of the families does. */
const HINT =
  /eyJ|[srp]k_|whsec_|AIza|GOCSPX|ya29|A[KS]IA|gh[pousr]_|github_pat|glpat|xox|xapp|sk-|npm_|SG\.|hf_|-----BEGIN|bearer|basic|passw|secret|token|api_?key/i;

/** A text with every secret replaced. */
export function cleanText(text: string): string {
  if (!HINT.test(text)) return text;
  return FAMILIES.reduce(
    (clean, [name, pattern]) => clean.replace(pattern, `[redacted:${name}]`),
    text,
  );
}

/** A value with every secret replaced; the same one where there is none. */
export function cleanValue<T extends JsonValue>(value: T): T {
  if (typeof value === 'string') return cleanText(value) as T; // A cleaned text is a text.
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value) as readonly (readonly [string, JsonValue])[];
  const cleaned = members.map(([name, item]) => [name, cleanValue(item)] as const);
  if (cleaned.every(([, item], index) => item === members[index]?.[1])) return value;
  return (
    Array.isArray(value) ? cleaned.map(([, item]) => item) : Object.fromEntries(cleaned)
  ) as T; // As it was, item by item.
}

/**
 * A chained file of receipts that nobody waits for: one append at a time, and everything that came
 * meanwhile in the next one.
 */
export interface OwnReceipts {
  readonly folder: string;
  append(build: (uri: string) => Receipt): void;
  /** Waits until everything is written. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** In a folder of its own. */
export function ownReceipts(): OwnReceipts {
  const folder = mkdtempSync(join(tmpdir(), 'allium-bench-own-'));
  const file = join(folder, `${SESSION}.jsonl`);
  const { href } = pathToFileURL(file);
  let waiting: string[] = [];
  let writing: Promise<void> | null = null;
  let seq = 0;
  let prev = `sha256:${'0'.repeat(64)}`;
  const write = async (): Promise<void> => {
    await Promise.resolve();
    while (waiting.length > 0) {
      const text = waiting.join('');
      waiting = [];
      await new Promise<void>((resolve, reject) => {
        appendFile(file, text, (error) => (error === null ? resolve() : reject(error)));
      });
    }
    writing = null;
  };
  return {
    folder,
    append(build) {
      seq += 1;
      const chained = { ...build(`${href}#seq=${seq}`), seq, prev_hash: prev } satisfies object;
      const open = JSON.stringify(chained).slice(0, -1);
      prev = `sha256:${sha256(open)}`;
      waiting.push(`${open},"hash":"${prev}"}\n`);
      writing ??= write();
    },
    async flush() {
      while (writing !== null) await writing;
    },
    async close() {
      await this.flush();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A line of a record with its times. */
export const ownLine = (name: string, status: string, startedAt: string, details?: JsonObject) => ({
  ...(details === undefined ? { name, status } : { status, ...details, name }),
  name,
  status,
  startedAt,
  endedAt: new Date().toISOString(),
});
